; Blocks are stacked by a hand that holds one at a time.
(define (domain blocksworld)
  (:requirements :strips :typing)
  (:types block)
  (:predicates
    (on ?above ?below - block)
    (on-table ?b - block)
    (clear ?b - block)       ; nothing is on it, and it is not held
    (held ?b - block)
    (hand-free))

  (:action pick-up
    :parameters (?b - block)
    :precondition (and (hand-free) (clear ?b) (on-table ?b))
    :effect (and (held ?b) (not (clear ?b)) (not (on-table ?b)) (not (hand-free))))

  (:action put-down
    :parameters (?b - block)
    :precondition (held ?b)
    :effect (and (on-table ?b) (clear ?b) (hand-free) (not (held ?b))))

  (:action unstack
    :parameters (?b ?from - block)
    :precondition (and (hand-free) (clear ?b) (on ?b ?from))
    :effect (and (held ?b) (clear ?from) (not (clear ?b)) (not (on ?b ?from)) (not (hand-free))))

  (:action stack
    :parameters (?b ?onto - block)
    :precondition (and (held ?b) (clear ?onto))
    :effect (and (on ?b ?onto) (clear ?b) (hand-free) (not (clear ?onto)) (not (held ?b)))))
