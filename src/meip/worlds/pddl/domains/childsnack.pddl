; Sandwiches are made in the kitchen, put on trays and carried to children; some must be free of gluten.
(define (domain childsnack)
  (:requirements :strips :typing :negative-preconditions)
  (:types child bread filling sandwich tray place)
  (:constants kitchen - place)
  (:predicates
    (bread-left ?b - bread)
    (filling-left ?f - filling)
    (free-bread ?b - bread)             ; never changes: without gluten
    (free-filling ?f - filling)         ; never changes
    (allergic ?c - child)               ; never changes
    (tolerant ?c - child)               ; never changes
    (sits ?c - child ?p - place)        ; never changes
    (unmade ?s - sandwich)
    (ready ?s - sandwich)               ; made, still in the kitchen
    (free-sandwich ?s - sandwich)
    (on ?s - sandwich ?t - tray)
    (at ?t - tray ?p - place)
    (served ?c - child))

  (:action make
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (unmade ?s) (bread-left ?b) (filling-left ?f))
    :effect (and (ready ?s) (not (unmade ?s)) (not (bread-left ?b)) (not (filling-left ?f))))

  (:action make-free
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (unmade ?s) (bread-left ?b) (filling-left ?f) (free-bread ?b) (free-filling ?f))
    :effect (and (ready ?s) (free-sandwich ?s) (not (unmade ?s)) (not (bread-left ?b)) (not (filling-left ?f))))

  (:action load
    :parameters (?s - sandwich ?t - tray)
    :precondition (and (ready ?s) (at ?t kitchen))
    :effect (and (on ?s ?t) (not (ready ?s))))

  (:action carry
    :parameters (?t - tray ?from ?to - place)
    :precondition (and (at ?t ?from) (not (at ?t ?to)))
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action serve
    :parameters (?s - sandwich ?t - tray ?c - child ?p - place)
    :precondition (and (tolerant ?c) (sits ?c ?p) (on ?s ?t) (at ?t ?p))
    :effect (and (served ?c) (not (on ?s ?t))))

  (:action serve-free
    :parameters (?s - sandwich ?t - tray ?c - child ?p - place)
    :precondition (and (allergic ?c) (sits ?c ?p) (on ?s ?t) (free-sandwich ?s) (at ?t ?p))
    :effect (and (served ?c) (not (on ?s ?t)))))
