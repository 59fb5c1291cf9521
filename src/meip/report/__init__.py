"""What was learned and planned, for people to look at. It knows no world but by its hooks.

text       explanations and plans on a terminal
whole      a report: all of it as one page and as JSON, the same for every command and the studio
html       the frame of pages, and an explanation on one
plan_page  a plan as one page or picture
svg        curves, the learned order, sheets of pictures
charts     axes and lines
figures    the figures of experiments
paper_figures  bars with intervals and heat maps
diagrams       states with arrows, strips of marks
page_tables  rows as tables; tables written into a page
"""
