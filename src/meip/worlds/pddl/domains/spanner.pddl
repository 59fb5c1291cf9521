; A one-way road: pick up single-use spanners on the way, there is no coming back for them.
(define (domain spanner)
  (:requirements :strips :typing)
  (:types place thing - object
          worker nut tool - thing)
  (:predicates
    (road ?from ?to - place)           ; never changes
    (at ?x - thing ?p - place)
    (carries ?w - worker ?t - tool)
    (fresh ?t - tool)                  ; not used yet
    (loose ?n - nut)
    (tight ?n - nut))

  (:action walk
    :parameters (?w - worker ?from ?to - place)
    :precondition (and (at ?w ?from) (road ?from ?to))
    :effect (and (at ?w ?to) (not (at ?w ?from))))

  (:action take
    :parameters (?w - worker ?t - tool ?p - place)
    :precondition (and (at ?w ?p) (at ?t ?p))
    :effect (and (carries ?w ?t) (not (at ?t ?p))))

  (:action tighten
    :parameters (?w - worker ?t - tool ?n - nut ?p - place)
    :precondition (and (at ?w ?p) (at ?n ?p) (carries ?w ?t) (fresh ?t) (loose ?n))
    :effect (and (tight ?n) (not (loose ?n)) (not (fresh ?t)))))
