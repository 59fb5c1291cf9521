; A ferry carries one car at a time between landings.
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions)
  (:types car landing)
  (:predicates
    (at-ferry ?l - landing)      ; the ferry lies here
    (at ?c - car ?l - landing)   ; the car waits ashore here
    (aboard ?c - car)
    (empty))

  (:action sail
    :parameters (?from ?to - landing)
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
