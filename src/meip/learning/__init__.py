"""From demonstrations to utilities: candidates, objectives, the pursuit and its members. Arrays in, utilities out: it
knows no files but its checkpoints, and no tasks.

options      what decides a task, and what only decides how the work is done
evidence     every demonstrated choice with what else could have been done, as arrays
forms        the ways in which a concept can matter, as columns
readings     demonstrations as shown, or only what their goals need of them
thresholds   from which number on a quantity matters
growth       which concepts are looked at, where there are too many
offers       what may be said about the demonstrations: all forms that some choice tells apart
sparse       few statements, each worth more than its price: a softmax over choices
side_by_side two demonstrations woven into one of a larger world
curves       the same choices by many curves of real quantities, and how much these count
worth        what a statement has to be worth
steps        what is not done while there is another way, and what it is done to first
not_yet      what has to hold before the last thing is done
rules        what was never done, and what always came first
enforced     what the world made everybody do first to each single thing
endings      what was always so in the end
told         the small model that is told
study        the fits to some demonstrations, and which of them are odd
statements   what is told
history      are steps compared by what they add to g, or to their history?
corrections  a step of a plan was wrong: as how much that counts
choosing     the one learner: from choices to a utility and preferences
shown        demonstrated plans as rows of numbers, ready to be compared
candidates   concepts that could matter, their order, and what is avoided
selection    which concepts are relevant, which are the same, which are about order
likelihood   the likelihood of whole plans, and of steps by what they add to their history
pairs        ordered pairs of states, without listing them
ranking_svm  the paper's Ranking SVM
generated    the plans that a Ranking SVM compares with
fitting      sets of concepts, fitted to the same demonstrations and pools
learner      Algorithm 1: the weights of given concepts
pursuit      Algorithm 2: which concepts, level by level
pursuit_run  one run of it by our rule, and what both rules share
literal_pursuit  one run of it as printed
checkpoint   decisions; and rounds, by which a killed run goes on
estimator    scikit-learn's contract
"""
