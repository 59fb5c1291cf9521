"""What was learned and planned, for people to look at. It knows no world but by its hooks.

text       explanations and plans on a terminal
html       an explanation as one page
plan_page  a plan as one page or picture
svg        curves, the learned order, sheets of pictures
charts     axes, lines and bars
figures    the figures of experiments
page_tables  tables written into a page
"""
