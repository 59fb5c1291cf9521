"""The searches by name, and the one function that runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meip.base.errors import LearningError, did_you_mean
from meip.base.running import Limits, Stopped, as_error, bounded
from meip.model.graph import StateGraph
from meip.search import batched_tree, beam, best_first, choosing, exact, greedy, tree
from meip.search.plans import history_count, longest_plan
from meip.search.query import Clock, Found, Query
from meip.search.tree_kernels import DEFAULT_RULES
from meip.utility.ranking import Ranking

__all__ = ["SEARCHES", "Search", "find", "find_tree"]

Search = Callable[[StateGraph, Ranking, Sequence[int], Query], Found]
EXACT_HISTORIES = 200_000  # plans that "auto" looks at


def find_tree(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """Tree search; in batches where a world lists its actions as far as it is asked to (`Found.method` says so)."""
    if graph.listed_lazily and query.rules == DEFAULT_RULES:
        return batched_tree.search(graph, ranking, history, query)
    return tree.search(graph, ranking, history, query)


SEARCHES: dict[str, Search] = {
    "choices": choosing.search,
    "greedy": greedy.search,
    "gbfs": best_first.search,
    "beam": beam.search,
    "likeliest": beam.likeliest,
    "exact": exact.search,
    "mcts": find_tree,
}
"""choices goes by single steps, greedy and gbfs by the utility of single states, the others by whole histories."""


def find(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query | None = None) -> Found:
    """Plan on from a history, for what a ranking prefers.

    "auto" is exact where the plans can be listed, else (and where a world lists actions as far as it is asked to) beam
    search, or tree search where chance plays a part.
    """
    query = query or Query()
    if query.method == "auto":
        query = query.changed(method=_automatic(graph, history, query))
    if query.method not in SEARCHES:
        raise LearningError(f"search method {query.method!r}: {did_you_mean(query.method, ('auto', *SEARCHES))}")
    try:
        with bounded(query.memory):
            return SEARCHES[query.method](graph, ranking, [int(s) for s in history], query)
    except Stopped as stop:
        limits = Limits(query.seconds, query.memory)
        raise as_error(stop, limits, f"give the {query.method} search more memory, or limit its nodes") from None


def _automatic(graph: StateGraph, history: Sequence[int], query: Query) -> str:
    budget = min(EXACT_HISTORIES, query.nodes, query.iterations or EXACT_HISTORIES)
    length = query.length(graph, history) - len(history) + 1
    stop = Clock(query, graph).stop
    few = not graph.listed_lazily and history_count(graph, history[-1], length, budget, stop) <= budget
    if few and longest_plan(graph, history[-1], length) <= exact.LONGEST:
        return "exact"
    return "beam" if tree.certain(graph) else "mcts"
