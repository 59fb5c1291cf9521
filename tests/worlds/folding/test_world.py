from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from meip.base import documents
from meip.base.errors import DemonstrationError, DocumentError, WorldError
from meip.model.check import check_world
from meip.model.demonstrations import Step, read_demonstrations, record, replay
from meip.model.problems import load_problem, problem_document
from meip.model.world import encode, made_of
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.creases import crease_between
from meip.worlds.folding.demonstrate import (
    BUNDLED,
    bundled,
    demonstrate,
    random_demonstrations,
    random_kind,
    script_orders,
    scripted_folds,
)
from meip.worlds.folding.folds import Fold, fold, pile
from meip.worlds.folding.garments import garment, random_garment, scaled, tailored
from meip.worlds.folding.proposal import Proposal, box_frame, grid, propose, seam_frames
from meip.worlds.folding.referee import Referee, rectangularity
from meip.worlds.folding.world import Folding, proposal_from

SHIRT = garment("tshirt")


def test_the_world_keeps_the_protocol() -> None:
    assert check_world(Folding(SHIRT, horizon=3, candidates=4), walks=3) == []


def test_the_world_survives_its_document() -> None:
    world = Folding(garment("hoodie"), 3, proposal_from(bundled()[:2]), 7, 1)
    assert load_problem(problem_document(world)) == world


def test_worlds_and_cloths_travel_to_other_processes() -> None:
    world = Folding(SHIRT, candidates=5)
    flat = Cloth.flat(SHIRT)
    actions = world.actions(flat)
    there, cloth = pickle.loads(pickle.dumps((world, fold(flat, actions[0]))))
    assert there == world
    assert there.actions(flat) == actions
    assert cloth == fold(flat, actions[0])
    assert not cloth.xy.flags.writeable


class OwnKind(Folding):
    """A user's own kind of folding."""


def test_a_world_of_ones_own_stays_that_when_it_travels_or_lists_alternatives() -> None:
    world = OwnKind(candidates=3)
    given = documents.dump(proposal_from(bundled()[:1]))
    for other in (pickle.loads(pickle.dumps(world)), world.with_proposal(given)):
        assert type(other) is OwnKind
        assert other.candidates == 3
    wide = world.with_proposal(given, alternatives=True, seed=5)
    assert type(wide) is OwnKind
    assert (wide.seed, wide.candidates > 3, wide.proposal.uniform > 0.05) == (5, True, True)


def test_the_same_state_and_seed_give_the_same_actions() -> None:
    flat = Cloth.flat(SHIRT)
    one, two = Folding(SHIRT, candidates=10), Folding(SHIRT, candidates=10)
    assert one.actions(flat) == two.actions(flat)
    assert one.actions(flat) != Folding(SHIRT, candidates=10, seed=1).actions(flat)


def test_actions_have_different_results_and_any_other_segment_can_be_tried() -> None:
    world = Folding(SHIRT, candidates=30)
    flat = Cloth.flat(SHIRT)
    results = [world.outcomes(flat, action)[0][1] for action in world.actions(flat)]
    assert len(set(results)) == len(results) == 30
    x0, y0, x1, y1 = flat.bounds
    action = world.decode_action([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, 0])
    assert world.outcomes(flat, action)[0][1] == fold(flat, action)
    with pytest.raises(WorldError, match="r > 0"):
        world.decode_action([0, 0, "long", 0])


def test_a_step_that_misses_the_cloth_is_named() -> None:
    one = bundled()[0]
    wrong = type(one)(one.problem, (*one.steps[:1], Step([1e4, 0.0, 1.0, 0.0])))
    with pytest.raises(DemonstrationError, match=r"step 2: .* misses the cloth"):
        replay(load_problem(one.problem), wrong)


def test_twenty_demonstrations_are_bundled_and_fold_in_the_default_order_as_often_as_needed() -> None:
    shown = read_demonstrations(BUNDLED)
    garments, folds = set(), set()
    for one in shown:
        assert "cripted" in one.by + one.note
        world = load_problem(one.problem)
        plan = replay(world, one)
        referee = Referee(world.garment)  # type: ignore[attr-defined]
        verdict = referee.judge(plan.states)
        assert verdict.default_order and verdict.enough
        assert len(plan) < world.horizon, "to stop was a choice"
        assert verdict.rectangularity > 0.7
        garments.add((round(float(np.ptp(plan.states[0].xy)), 3), world.garment.template))  # type: ignore
        folds.add((referee.large, len(one.steps)))
    assert len(garments) == len(shown) == 20
    assert {template for _, template in garments} == {"tshirt", "longsleeve", "hoodie"}
    assert folds == {(True, 3), (True, 4), (False, 2), (False, 3)}


def test_demonstrations_are_the_same_for_the_same_seed() -> None:
    one, two = (random_demonstrations(2, np.random.default_rng(3)) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("template", ["tshirt", "longsleeve", "sweater", "hoodie"])
def test_the_demonstrator_folds_garments_of_many_proportions(template: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(3):
        one = demonstrate(random_garment(template, rng), rng)
        assert len(one.steps) == 3 + (template == "hoodie")


def test_the_demonstrator_slants_a_crease_where_a_long_sleeve_would_stick_out() -> None:
    rng = np.random.default_rng(12)
    clothes = [random_kind("small hoodie", rng) for _ in range(12)]
    verdicts = [Referee(one).judge(replay(Folding(one), demonstrate(one, rng)).states) for one in clothes]
    assert sum("sticks out" in said for verdict in verdicts for said in verdict.untidy) <= 1
    assert not any("slanted" in said for verdict in verdicts for said in verdict.untidy)


def test_the_hood_is_folded_onto_the_body_first_and_stays_there() -> None:
    rng = np.random.default_rng(1)
    hoodie = random_garment("hoodie", rng)
    referee, plan = Referee(hoodie), replay(Folding(hoodie), demonstrate(hoodie, rng))
    assert referee.coverage(plan.states[0], "hood") == 0
    assert all(referee.coverage(cloth, "hood") > 0.9 for cloth in plan.states[1:])
    assert referee.judge(plan.states).halved == 4, "a hood that lies on the body does not halve the garment"


def test_what_is_small_is_not_halved() -> None:
    rng = np.random.default_rng(2)
    for kind, folds in (("small tshirt", 2), ("small hoodie", 3)):
        small = random_kind(kind, rng)
        referee, plan = Referee(small), replay(Folding(small), demonstrate(small, rng))
        verdict = referee.judge(plan.states)
        assert not referee.large and verdict.halved is None
        assert verdict.default_order and verdict.enough and len(plan.actions) == folds
        assert not referee.judge(plan.states[:-1]).enough
    assert not Referee(SHIRT).judge(plan.states[:1]).enough


def test_height_is_in_centimetres_and_what_has_no_scale_is_taken_to_be_a_grown_ups() -> None:
    def height(one: Garment) -> float:
        return float(Folding(one).facts(Cloth.flat(one)).tables["height"][0])

    assert height(SHIRT) == pytest.approx(70)
    assert height(scaled(SHIRT, 0.4)) == pytest.approx(28)
    assert height(replace(SHIRT, centimetre=0.5)) == pytest.approx(35)
    unknown = replace(scaled(SHIRT, 9.0), template="")
    assert height(unknown) == pytest.approx(70, rel=0.06)


def test_a_garment_says_what_it_is_made_of() -> None:
    assert made_of(Folding(garment("hoodie"))) == ("body", "sleeve", "hood")
    assert made_of(Folding(garment("trousers"))) == ("leg",)


def test_the_referee_tells_sleeves_first_from_half_first() -> None:
    rng = np.random.default_rng(0)
    referee = Referee(SHIRT)

    def plan(*names: str) -> list[Cloth]:
        cloths = [Cloth.flat(SHIRT)]
        for action in scripted_folds(SHIRT, names, rng):
            cloths.append(fold(cloths[-1], action))
        return cloths

    good = referee.judge(plan("sleeve_left", "sleeve_right", "half"))
    assert good.default_order
    assert (good.sleeves, good.halved) == ({"sleeve_left": 1, "sleeve_right": 2}, 3)
    assert min(good.coverage.values()) > 0.9
    assert not referee.judge(plan("sleeve_left", "half")).default_order
    assert not referee.judge(plan("sleeve_left", "sleeve_right")).default_order
    x0, y0, x1, y1 = Cloth.flat(SHIRT).bounds
    half = fold(Cloth.flat(SHIRT), ((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, 0.0))
    assert not referee.judge([Cloth.flat(SHIRT), half]).default_order
    assert referee.halved(half)


def test_the_referee_has_eyes_for_neatness() -> None:
    shirt = Cloth.flat(SHIRT)
    left, right, half = (-20.0, 35.0, 80.0, np.pi / 2), (20.0, 35.0, 80.0, np.pi / 2), (0.0, 36.0, 80.0, 0.0)

    def untidy(*folds: Fold, of: Garment = SHIRT) -> tuple[str, ...]:
        cloths = [Cloth.flat(of)]
        for action in folds:
            cloths.append(fold(cloths[-1], action))
        return Referee(of).judge(cloths).untidy

    assert untidy(left, right, half) == ()
    assert "fold 1, of a sleeve, is slanted" in untidy((-19.0, 35.0, 80.0, np.pi / 2 - 0.3), right, half)
    assert "the last fold does not run across" in untidy(left, right, (0.0, 36.0, 80.0, 0.25))
    assert untidy(left, half)[-2:] == ("sleeve right sticks out", "it is no rectangle")
    assert "fold 1 moves a sliver" in untidy((0.0, 0.7, 80.0, 0.0))
    hoodie = garment("hoodie")
    assert "hood sticks out" in untidy((0.0, 12.0, 80.0, 0.0), of=hoodie)
    assert Referee(SHIRT).judge([shirt]).untidy[0] == "nothing was folded"


@pytest.mark.parametrize("theta", [0.0, 0.4, 1.6, 3.0])
def test_a_crease_is_told_from_the_cloths_alone_after_other_folds_too(theta: float) -> None:
    first = fold(Cloth.flat(SHIRT), (-20.0, 35.0, 80.0, 1.5))
    action = (3.0, 33.0, 120.0, theta)
    found = crease_between(first, fold(first, action))
    assert found is not None
    assert abs((found.angle - np.degrees(theta) + 90) % 180 - 90) < 1e-6
    assert 0 < found.moved <= 0.5 + 1e-9


def test_scripted_orders_are_good_or_bad_in_the_eyes_of_the_referee() -> None:
    rng = np.random.default_rng(8)
    sweater = garment("sweater")
    good, bad = script_orders(sweater)
    assert (len(good), len(bad)) == (2, 4)
    for names in (*good, *bad):
        cloths = [Cloth.flat(sweater)]
        for action in scripted_folds(sweater, names, rng):
            cloths.append(fold(cloths[-1], action))
        assert Referee(sweater).judge(cloths).default_order == (names in good)


def test_a_sheet_is_a_rectangle_in_any_direction() -> None:
    from test_silhouette import SHEET

    assert rectangularity(SHEET) == pytest.approx(1)
    assert rectangularity(fold(SHEET, (2, 2, 9, np.pi / 4))) == pytest.approx(0.5)


def test_a_fold_in_the_frame_of_the_largest_polygon_lands_on_the_same_place_of_another_garment() -> None:
    small, large = (Cloth.flat(garment("tshirt", chest=c, length=v)) for c, v in ((48, 64), (56, 76)))
    body = small[0].polygon
    side = np.array([[body[:, 0].max(), body[:, 1].mean(), 30.0, np.pi / 2]])
    there = box_frame(large).to_table(box_frame(small).to_local(side))
    assert there[0, 0] == pytest.approx(large[0].polygon[:, 0].max())
    assert there[0, 3] == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(box_frame(small).to_table(box_frame(small).to_local(side)), side)


def test_seam_frames_are_mirror_images_of_each_other() -> None:
    right, left = seam_frames(Cloth.flat(SHIRT))
    local = np.array([[0.1, -0.05, 0.5, 0.02]])
    a, b = right.to_table(local)[0], left.to_table(local)[0]
    assert a[0] == pytest.approx(-b[0])
    assert a[1:3] == pytest.approx(b[1:3])
    assert (a[3] + b[3]) % np.pi == pytest.approx(0, abs=1e-9)


def test_a_fold_beside_a_slanted_seam_is_as_upright_as_beside_a_straight_one() -> None:
    upright = np.array([[0.0, -0.05, 0.5, 0.0]])  # up the garment, a little inside of the seam
    for shoulder in (0.8, 0.96):  # seams that slant, and seams that hardly do
        for frame, side in zip(seam_frames(Cloth.flat(garment("tshirt", shoulder=shoulder))), (1, -1), strict=True):
            x, _, _, theta = frame.to_table(upright)[0]
            assert theta == pytest.approx(np.pi / 2)
            assert side * x < side * frame.origin[0]


def test_a_shirt_that_is_cut_short_keeps_its_seams_and_is_folded_by_the_script() -> None:
    whole = garment("tshirt")
    short = tailored(whole, 0.3, 0.25)
    assert Referee(short).sleeves == Referee(whole).sleeves
    assert all(short.part(name).area < 0.5 * whole.part(name).area for name in Referee(whole).sleeves)
    shared = [set(p.points) & set(short.part("body").points) for p in short.parts if p.name != "body"]
    assert [len(seam) for seam in shared] == [2, 2]
    wide = [np.ptp(one.part("body").polygon[:, 0]) for one in (whole, short)]
    assert wide[1] == pytest.approx(1.25 * wide[0])
    states = replay(Folding(short), demonstrate(short, np.random.default_rng(0))).states
    assert Referee(short).judge(states).default_order


def test_a_hood_has_no_seam_frame() -> None:
    assert len(seam_frames(Cloth.flat(garment("hoodie")))) == 2


def test_a_learned_proposal_finds_sleeve_folds_on_a_garment_never_seen_and_a_grid_rarely_does() -> None:
    learned = proposal_from(bundled())
    hoodie = garment("hoodie")
    referee, flat = Referee(hoodie), Cloth.flat(hoodie)

    def share(proposal: Proposal) -> float:
        found = propose(flat, proposal, 60, np.random.default_rng(0))
        return float(np.mean([any(referee.folded(after, s) for s in referee.sleeves) for _, after in found]))

    assert share(learned) > 0.3
    assert share(Proposal()) < 0.25


def test_the_grid_covers_the_box_and_bad_options_are_refused() -> None:
    flat = Cloth.flat(SHIRT)
    segments = grid(flat, 5, 4, (1.0,))
    assert segments.shape == (100, 4)
    with pytest.raises(WorldError, match="between 0 and 1"):
        Proposal(uniform=2.0)
    with pytest.raises(WorldError, match="at least 2"):
        Folding(SHIRT, horizon=1)


def test_recording_writes_segments_as_plain_numbers() -> None:
    world = Folding(SHIRT)
    action = world.actions(Cloth.flat(SHIRT))[0]
    one = record(world, [action])
    assert one.steps[0].action == encode(action)


def test_first_moves_are_the_beginning_of_the_actions_and_grow_without_changing() -> None:
    proposal, flat = proposal_from(bundled()[:3]), Cloth.flat(SHIRT)
    world, whole = (Folding(SHIRT, proposal=proposal, candidates=12) for _ in "ab")
    actions = whole.actions(flat)
    after = whole.outcomes(flat, actions[0])[0][1]
    others = whole.actions(after)
    for n in (1, 3, 4, 12, 40):
        (here, done), (there, _) = world.first_moves([flat, after], [n, min(n, 2)])
        assert [a for a, _ in here] == list(actions[:n])
        assert [a for a, _ in there] == list(others[: min(n, 2)])
        assert done == (n >= 12)
        assert all(fold(flat, a) == result for a, result in here)


def test_where_few_folds_are_legal_the_list_says_that_it_is_at_its_end() -> None:
    tiny = Proposal(((0.0, 0.0, 0.01, 0.0),), uniform=0.0, spread=0.0, turn=0.0)  # always ends inside the cloth
    world = Folding(SHIRT, proposal=tiny, candidates=3)
    assert world.first_moves([Cloth.flat(SHIRT)], [1]) == [([], True)]
    assert world.actions(Cloth.flat(SHIRT)) == []


def test_samples_stray_as_far_as_the_proposal_says() -> None:
    flat = Cloth.flat(SHIRT)
    one = Proposal(((0.5, 0.1, 0.0, 1.2),), uniform=0.0, spread=0.02, turn=0.04)
    rows = one.sample(pile([flat]), [7], [0], [4000])
    centre = box_frame(flat).to_table(np.array(one.box))[0]
    np.testing.assert_allclose(rows[:, :2].mean(axis=0), centre[:2], atol=0.002 * flat.scale)
    np.testing.assert_allclose(rows[:, :2].std(axis=0), 0.02 * flat.scale, rtol=0.1)
    assert rows[:, 3].std() == pytest.approx(0.04, rel=0.1)
    again = one.sample(pile([flat, flat]), [3, 7], [0, 1000], [0, 10])
    np.testing.assert_array_equal(again, rows[1000:1010])
    wild = Proposal().sample(pile([flat]), [1], [0], [2000])
    known = {tuple(row) for row in grid(flat).round(9).tolist()}
    assert all(tuple(row) in known for row in wild.round(9).tolist())


def test_a_problem_names_a_template_and_a_garment_is_a_problem_as_it_is(tmp_path: Path) -> None:
    named = load_problem({"format": "meip.problem/1", "world": "folding", "garment": "hoodie", "horizon": 3})
    assert named == Folding(garment("hoodie"), 3)
    documents.write(tmp_path / "shirt.json", SHIRT)
    assert load_problem(tmp_path / "shirt.json") == Folding(SHIRT)
    with pytest.raises(DocumentError, match="did you mean 'hoodie'"):
        load_problem({"format": "meip.problem/1", "world": "folding", "garment": "hodie"})
    with pytest.raises(DocumentError, match=r"\$.garment.parts"):
        load_problem({"format": "meip.garment/1", "name": "nothing", "parts": 3})
