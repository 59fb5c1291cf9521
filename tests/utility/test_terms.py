"""The utility: basis functions, knots, curves and edits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip.base import documents
from meip.base.errors import DocumentError, LearningError
from meip.concepts.language import Constant, Primitive, Quantified
from meip.utility import terms as u
from meip.utility.ordering import kendall_tau

LAW = settings(max_examples=60, deadline=None, derandomize=True)
KNOTS = st.lists(st.integers(-50, 50), min_size=2, max_size=8, unique=True).map(lambda k: tuple(map(float, sorted(k))))
TORCH = Quantified("all", Primitive("torch"))
CLAY = Quantified("count", Primitive("clay"))


@LAW
@given(KNOTS, st.floats(-80, 80))
def test_hat_functions_are_positive_and_share_one(knots: tuple[float, ...], value: float) -> None:
    found = u.basis([value], None, "real", knots)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0)
    assert (found > 0).sum() <= 2


@LAW
@given(KNOTS, st.data())
def test_the_curve_passes_through_its_weights_and_is_continuous_there(
    knots: tuple[float, ...], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.floats(-5, 5), min_size=len(knots), max_size=len(knots)))
    at, near = np.array(knots), 1e-7
    for shift in (-near, 0.0, near):
        assert u.basis(at + shift, None, "real", knots) @ weights == pytest.approx(weights, abs=1e-5)


@LAW
@given(KNOTS, st.data())
def test_g_between_knots_is_numpys_interpolation_and_clamped_outside(
    knots: tuple[float, ...], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.floats(-5, 5), min_size=len(knots), max_size=len(knots)))
    x = np.linspace(-90, 90, 57)
    assert u.basis(x, None, "real", knots) @ weights == pytest.approx(np.interp(x, knots, weights), abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "knots"), [("boolean", ()), ("real", (0.0, 1.0)), ("count", (0.0, 1.0)), ("table", (0.0,))]
)
def test_a_missing_value_adds_nothing(kind: u.Kind, knots: tuple[float, ...]) -> None:
    assert not u.basis([0.0, np.nan, 1.0], [True, True, True], kind, knots).any()


def test_nan_that_is_not_marked_missing_is_refused() -> None:
    with pytest.raises(LearningError, match="NaN"):
        u.basis([np.nan], [False], "real", (0.0, 1.0))


def test_a_code_never_seen_adds_nothing() -> None:
    assert u.basis([2.0, 3.0], None, "table", (0.0, 2.0)).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_knots_depend_on_the_kind() -> None:
    values = np.array([0, 1, 1, 3, 3, 3], dtype=float)
    assert u.place_knots(values, "boolean") == ()
    assert u.place_knots(values, "count") == (0.0, 1.0, 2.0, 3.0)
    assert u.place_knots(values, "table") == (0.0, 1.0, 3.0)
    assert len(u.place_knots(np.arange(100.0), "count")) == 6
    assert u.place_knots(np.arange(101.0), "real", 5) == (0.0, 25.0, 50.0, 75.0, 100.0)


def test_equal_quantiles_count_once_and_missing_values_do_not_count() -> None:
    assert u.place_knots([0.0] * 50 + [1.0], "real") == (0.0, 1.0)
    assert u.place_knots([2.0, 2.0], "real") == (2.0,)
    assert u.place_knots([1.0, 9.0, 2.0], "real", 2, np.array([False, True, False])) == (1.0, 2.0)
    with pytest.raises(LearningError, match="missing"):
        u.place_knots([np.nan], "real")


def example() -> u.Utility:
    return u.with_weights(
        [u.UtilityTerm(TORCH, "boolean"), u.UtilityTerm(CLAY, "count", (0.0, 2.0, 4.0))], [1, 2, 3, 5]
    )


def test_g_is_the_features_times_the_weights() -> None:
    found, values = example(), np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 9.0]])
    assert found.rank(values).tolist() == [2.0, 3.5, 6.0]
    assert u.features(found.terms, values) @ found.weights == pytest.approx(found.rank(values))
    assert found.rank(values, [[False, True]] * 3).tolist() == [0.0, 1.0, 1.0]


def test_shifting_or_stretching_a_curve_keeps_the_order_of_plans() -> None:
    found, values = example(), np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 3.0], [1.0, 9.0]])
    stretched = u.with_weights(found.terms, found.weights * 2)
    assert kendall_tau(stretched.rank(values)) == kendall_tau(found.rank(values))
    shifted = u.edit(found, CLAY, weights=[102, 103, 105])
    assert kendall_tau(shifted.rank(values)) == kendall_tau(found.rank(values))


def test_curves_can_be_read() -> None:
    torch, clay = example().terms
    assert [part.tolist() for part in u.curve(torch)] == [[0.0, 1.0], [0.0, 1.0]]
    assert [part.tolist() for part in u.curve(clay)] == [[0.0, 2.0, 4.0], [2.0, 3.0, 5.0]]
    assert (torch.influence, clay.influence) == (1.0, 3.0)


def test_an_edit_is_recorded_and_the_original_kept() -> None:
    before = example()
    after = u.edit(u.edit(before, TORCH, weights=[4.0], note="torches matter"), str(TORCH), weights=[5.0])
    assert before.terms[0].weights == (1.0,)
    assert after.terms[0].weights == (5.0,)
    assert [(e.before, e.after, e.note) for e in after.edits] == [
        ((1.0,), (4.0,), "torches matter"),
        ((4.0,), (5.0,), ""),
    ]


@pytest.mark.parametrize("weights", [[], [1.0, 2.0], [np.nan]])
def test_an_edit_with_the_wrong_weights_is_refused(weights: list[float]) -> None:
    with pytest.raises(LearningError, match="weights"):
        u.edit(example(), TORCH, weights=weights)


def test_an_edit_of_an_unknown_concept_is_refused() -> None:
    with pytest.raises(LearningError, match="no concept"):
        u.edit(example(), "all(bamboo)", weights=[1.0])


def test_wrong_terms_are_refused() -> None:
    with pytest.raises(LearningError, match="increasing"):
        u.UtilityTerm(CLAY, "count", (1.0, 1.0))
    with pytest.raises(LearningError, match="no knots"):
        u.UtilityTerm(TORCH, "boolean", (1.0,))
    with pytest.raises(LearningError, match="two terms"):
        u.Utility((u.UtilityTerm(Constant(1), "boolean"),) * 2)
    with pytest.raises(LearningError, match="weights in all"):
        u.with_weights([u.UtilityTerm(TORCH, "boolean")], [1.0, 2.0])


def test_a_utility_is_a_document_with_concepts_as_text() -> None:
    before = u.edit(example(), TORCH, weights=[0.1 + 0.2], note="by hand")
    written = documents.dump(before)
    assert written["terms"][0]["concept"] == str(TORCH)
    assert documents.parse(written, "utility") == before


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"concept": "all("}, r"\$\.terms\[0\]\.concept"),
        ({"concept": 3}, r"\$\.terms\[0\]\.concept"),
        ({"weights": [1.0, 2.0]}, r"\$\.terms\[0\]"),
        ({"kind": "complex"}, r"\$\.terms\[0\]\.kind"),
        ({"colour": "red"}, r"\$\.terms\[0\]\.colour"),
    ],
)
def test_a_broken_document_is_refused_with_the_place(change: dict[str, object], place: str) -> None:
    written = documents.dump(example())
    written["terms"][0].update(change)
    with pytest.raises(DocumentError, match=place):
        documents.parse(written, "utility")


def test_a_linear_term_goes_on_beyond_every_value_seen() -> None:
    term = u.UtilityTerm(Quantified("count", Primitive("on")), "linear", (), (0.5,))
    assert np.allclose(u.Utility((term,)).rank([[0.0], [3.0], [400.0]]), [0.0, 1.5, 200.0])
    assert u.place_knots([0.0, 1.0, 2.0], "linear") == ()
    with pytest.raises(LearningError, match="linear concept has one weight and at most one knot"):
        u.UtilityTerm(Quantified("count", Primitive("on")), "linear", (0.0, 1.0))
