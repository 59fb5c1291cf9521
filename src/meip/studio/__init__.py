"""A local web app on the same engine: show a task, see what was learned, question it, watch it carried over. It knows
worlds by their hooks only and computes nothing that the library does not; a project is a folder of readable documents.

app          the pages and the routes, put together
security     who may ask: host, origin, token and cookie, sizes, what a page may load
server       uvicorn on the loopback address, and the browser
project      the folder: documents, names, trash
lock         one studio to a folder
worlds       which problems there are, and their worlds
recording    a draft of a demonstration: steps, undo, redo
collection   demonstrations and problems: listed, replayed, renamed, deleted, imported, exported
drawing      states and actions as the page shows them
web          the page itself: HTML, CSS and ES modules, as they are
"""
