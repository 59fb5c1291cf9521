"""Small inputs that ask for much memory or time: refused in words before anything is allocated."""

from __future__ import annotations

import json
import resource
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from meip import MeipError
from meip.base import documents
from meip.base.parallel import within
from meip.model.graph import state_graph
from meip.model.problems import import_documents, load_problem
from meip.worlds.folding.fold_format import read_fold
from meip.worlds.folding.parse_graph import parse_image
from meip.worlds.pddl.generators import generate
from meip.worlds.pddl.world import PddlWorld

__all__ = ["CASES", "small_and_greedy"]

SECONDS, MEGABYTES = 5.0, 300
import_documents()


def _ring(points: int) -> list[list[float]]:
    turn = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return np.column_stack([np.cos(turn), np.sin(turn)]).tolist()  # type: ignore[no-any-return]


def _garment(folder: Path) -> None:
    part = {"name": "body", "points": _ring(8000)}
    documents.parse({"format": "meip.garment/1", "name": "round", "parts": [part]}, "garment")


def _fold(folder: Path) -> None:
    ring = _ring(20_000)
    (folder / "big.fold").write_text(json.dumps({"vertices_coords": ring, "faces_vertices": [list(range(len(ring)))]}))
    read_fold(folder / "big.fold")


def _png(folder: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(4001) * 100) for _ in range(320)) + packer.flush()
    header = struct.pack(">IIBBBBB", 32000, 32000, 1, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    (folder / "big.png").write_bytes(data)
    parse_image(folder / "big.png")


def _forall(folder: Path) -> None:
    variables = " ".join(f"?{name} - thing" for name in "abcdef")
    domain = f"""(define (domain d) (:requirements :adl :typing) (:types thing) (:predicates (p ?a - thing) (q))
      (:action go :parameters () :precondition (forall ({variables}) (or (p ?a) (p ?b) (p ?f))) :effect (q)))"""
    things = " ".join(f"t{i}" for i in range(30))
    problem = f"(define (problem x) (:domain d) (:objects {things} - thing) (:init (p t1)) (:goal (q)))"
    graph = state_graph(PddlWorld(domain, problem))
    graph.action_numbers(0)


def _problem(**fields: Any) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        graph = state_graph(load_problem({"format": "meip.problem/1", **fields}))
        _ = graph.horizon
        graph.facts([int(graph.initial[0])])
        graph.action_numbers(int(graph.initial[0]))

    return read


CASES: dict[str, Callable[[Path], None]] = {
    "a garment of 8,000 points": _garment,
    "a FOLD face of 20,000 vertices": _fold,
    "a PNG of 32000 x 32000": _png,
    "forall with six variables": _forall,
    "generate cars=2^31": lambda folder: print(generate("ferry", 0, cars=2**31)),
    "generate floors=2^62": lambda folder: print(generate("miconic", 0, floors=2**62)),
    "a horizon of 10^400": _problem(world="didactic", horizon=10**400),
    "a horizon of 10^12": _problem(world="pddl", domain_pddl="ferry", horizon=10**12),
    "10^400 objects": _problem(world="ritual", objects=10**400),
    "a ritual of 10^9 facts": _problem(world="ritual", stages=1000, objects=1000, types=[f"t{i}" for i in range(1000)]),
    "10^9 candidates": _problem(world="folding", garment="tshirt", candidates=10**9),
    "10^9 blocks": _problem(world="pddl", domain_pddl="blocksworld", generate={"blocks": 10**9}),
    "/dev/zero": lambda folder: documents.read("/dev/zero"),
}


def small_and_greedy(folder: Path, attempts: int) -> Tally:
    """Each is refused within seconds, and without much memory."""
    tally = Tally("small inputs that ask for much")
    for name, work in list(CASES.items())[:attempts]:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with tally.attempt(name, SECONDS):
            try:
                within(SECONDS, lambda work=work: work(folder))
            except MeipError as error:
                assert "s of computing" not in str(error), str(error)
                assert len(str(error)) < 500, str(error)
            else:
                raise AssertionError("it was accepted")
            more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            assert more < MEGABYTES, f"it took {more:.0f} MB"
    return tally
