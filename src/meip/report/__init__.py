"""Reports: what was learned and planned, on a terminal and as pages that need nothing but a browser."""
