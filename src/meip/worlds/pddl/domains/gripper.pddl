; A robot with several grippers moves balls between rooms.
(define (domain gripper)
  (:requirements :strips :typing :negative-preconditions)
  (:types room ball gripper)
  (:predicates
    (robot-in ?r - room)
    (in ?b - ball ?r - room)
    (free ?g - gripper)
    (holds ?g - gripper ?b - ball))

  (:action move
    :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (robot-in ?to)))
    :effect (and (robot-in ?to) (not (robot-in ?from))))

  (:action grasp
    :parameters (?g - gripper ?b - ball ?r - room)
    :precondition (and (robot-in ?r) (in ?b ?r) (free ?g))
    :effect (and (holds ?g ?b) (not (in ?b ?r)) (not (free ?g))))

  (:action release
    :parameters (?g - gripper ?b - ball ?r - room)
    :precondition (and (robot-in ?r) (holds ?g ?b))
    :effect (and (in ?b ?r) (free ?g) (not (holds ?g ?b)))))
