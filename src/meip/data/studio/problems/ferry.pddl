(define (problem ferry-cars3-landings3-seed3)
  (:domain ferry)
  (:objects
    c1 - car
    c2 - car
    c3 - car
    l1 - landing
    l2 - landing
    l3 - landing
  )
  (:init
    (empty)
    (at-ferry l3)
    (at c1 l3)
    (at c2 l1)
    (at c3 l1)
  )
  (:goal (and (at c1 l1) (at c2 l1) (at c3 l3))))
