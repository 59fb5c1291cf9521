; Satellites turn, switch one instrument on at a time, calibrate it, and take images.
(define (domain satellite)
  (:requirements :strips :typing :negative-preconditions)
  (:types satellite instrument mode direction)
  (:predicates
    (carries ?s - satellite ?i - instrument)          ; never changes
    (supports ?i - instrument ?m - mode)              ; never changes
    (target ?i - instrument ?d - direction)           ; never changes: where it can be calibrated
    (points ?s - satellite ?d - direction)
    (power ?s - satellite)                            ; power to switch something on
    (running ?i - instrument)
    (calibrated ?i - instrument)
    (image ?d - direction ?m - mode))

  (:action turn
    :parameters (?s - satellite ?from ?to - direction)
    :precondition (and (points ?s ?from) (not (points ?s ?to)))
    :effect (and (points ?s ?to) (not (points ?s ?from))))

  (:action start
    :parameters (?s - satellite ?i - instrument)
    :precondition (and (carries ?s ?i) (power ?s))
    :effect (and (running ?i) (not (calibrated ?i)) (not (power ?s))))

  (:action stop
    :parameters (?s - satellite ?i - instrument)
    :precondition (and (carries ?s ?i) (running ?i))
    :effect (and (power ?s) (not (running ?i))))

  (:action calibrate
    :parameters (?s - satellite ?i - instrument ?d - direction)
    :precondition (and (carries ?s ?i) (running ?i) (target ?i ?d) (points ?s ?d))
    :effect (calibrated ?i))

  (:action shoot
    :parameters (?s - satellite ?i - instrument ?d - direction ?m - mode)
    :precondition (and (carries ?s ?i) (running ?i) (calibrated ?i) (supports ?i ?m) (points ?s ?d))
    :effect (image ?d ?m)))
