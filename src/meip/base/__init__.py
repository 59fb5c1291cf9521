"""What every room stands on: files, numbers and processes. It knows nothing of worlds, concepts or tasks.

arrays      names for arrays
errors      the exception tree
text        texts that others wrote, safe to show
files       texts and JSON, read strictly and written as a whole or not at all
lines       files of one document per line, which grow
documents   versioned JSON documents, described once by a dataclass
results     tidy rows with their intervals, and the document that holds them
distinct    equal rows and equal plans, once
kernels     how numeric code is compiled, and what does small work without that
compiling   who is told while that happens
running     limits of long work, and its rounds, which are kept
signals     ending quietly when told to
packing     tasks on their way to workers, and in them
local       workers on this machine
clusters    workers of Ray and of Dask
parallel    the same results on any number of processes
"""
