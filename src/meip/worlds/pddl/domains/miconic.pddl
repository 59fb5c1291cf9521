; A lift takes people from the floor where they wait to the floor where they want to go.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types person floor)
  (:predicates
    (waits ?p - person ?f - floor)
    (wants ?p - person ?f - floor)     ; never changes
    (below ?low ?high - floor)         ; never changes: any floor under another
    (inside ?p - person)
    (served ?p - person)
    (lift ?f - floor))

  (:action up
    :parameters (?from ?to - floor)
    :precondition (and (lift ?from) (below ?from ?to))
    :effect (and (lift ?to) (not (lift ?from))))

  (:action down
    :parameters (?from ?to - floor)
    :precondition (and (lift ?from) (below ?to ?from))
    :effect (and (lift ?to) (not (lift ?from))))

  (:action enter
    :parameters (?p - person ?f - floor)
    :precondition (and (lift ?f) (waits ?p ?f))
    :effect (and (inside ?p) (not (waits ?p ?f))))

  (:action exit
    :parameters (?p - person ?f - floor)
    :precondition (and (lift ?f) (inside ?p) (wants ?p ?f))
    :effect (and (served ?p) (not (inside ?p)))))
