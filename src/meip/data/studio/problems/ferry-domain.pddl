(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions)
  (:types
    car - object
    landing - object
  )
  (:predicates
    (at-ferry ?x0 - landing)
    (at ?x0 - car ?x1 - landing)
    (aboard ?x0 - car)
    (empty)
  )
  (:action sail
    :parameters (?from - landing ?to - landing)
    :precondition (and (at-ferry ?from) (not (at-ferry ?to)))
    :effect (and (not (at-ferry ?from)) (at-ferry ?to)))
  (:action board
    :parameters (?c - car ?l - landing)
    :precondition (and (empty) (at-ferry ?l) (at ?c ?l))
    :effect (and (aboard ?c) (not (at ?c ?l)) (not (empty))))
  (:action leave
    :parameters (?c - car ?l - landing)
    :precondition (and (aboard ?c) (at-ferry ?l))
    :effect (and (at ?c ?l) (empty) (not (aboard ?c)))))
