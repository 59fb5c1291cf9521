"""A local web app on the same engine: show a task, see what was learned, question it, watch it carried over. It knows
worlds by their hooks only and computes nothing that the library does not; a project is a folder of readable documents.

app          the pages and the routes, put together
security     who may ask: host, origin, token and cookie, sizes, what a page may load
server       uvicorn on the loopback address, and the browser
project      the folder: documents, names, trash
lock         one studio to a folder
worlds       which problems there are, and their worlds
recording    a draft of a demonstration: steps, undo, redo
collection   demonstrations: listed, replayed, renamed, deleted, exported
importing    demonstrations and problems from files that somebody chose
warming      compiled code is made before somebody waits for it
drawing      states and actions as the page shows them
jobs         learning in processes of their own: started, watched, cancelled, resumed
job_table    .. in a table that survives them
worker       one job, as a process
learn_options  what can be chosen, in plain words
material     demonstrations to learn from, each with its world
understanding  what was learned: the sentence, wishes, order, rules
behind       the demonstrated steps behind a statement, and those that surprise
comparing    one step beside another: what each is worth, and why
edited       changes by hand, and the task as it was fitted
plans        what the page asks about plans
planner      who plans, and in what: tasks, baselines, problems
corrections  a wrong step becomes a demonstration of the right one
side_by_side  the plan of the task and of a baseline
reports      one page and JSON to keep
web          the page itself: HTML, CSS and ES modules, as they are
"""
