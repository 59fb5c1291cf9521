; Blocksworld with a clumsy hand: a block that is lifted off a tower, or put on one, may drop to the table.
(define (domain slippery-blocks)
  (:requirements :strips :typing :probabilistic-effects)
  (:types block)
  (:predicates
    (on ?above ?below - block)
    (on-table ?b - block)
    (clear ?b - block)
    (held ?b - block)
    (hand-free))

  (:action pick-up
    :parameters (?b - block)
    :precondition (and (hand-free) (clear ?b) (on-table ?b))
    :effect (probabilistic 9/10 (and (held ?b) (not (clear ?b)) (not (on-table ?b)) (not (hand-free)))))

  (:action put-down
    :parameters (?b - block)
    :precondition (held ?b)
    :effect (and (on-table ?b) (clear ?b) (hand-free) (not (held ?b))))

  (:action unstack
    :parameters (?b ?from - block)
    :precondition (and (hand-free) (clear ?b) (on ?b ?from))
    :effect (and (clear ?from) (not (on ?b ?from))
                 (probabilistic 8/10 (and (held ?b) (not (clear ?b)) (not (hand-free)))
                                2/10 (on-table ?b))))

  (:action stack
    :parameters (?b ?onto - block)
    :precondition (and (held ?b) (clear ?onto))
    :effect (and (clear ?b) (hand-free) (not (held ?b))
                 (probabilistic 8/10 (and (on ?b ?onto) (not (clear ?onto)))
                                2/10 (on-table ?b)))))
