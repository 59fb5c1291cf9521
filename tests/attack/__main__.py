"""The attack in full: ``make attack``, or ``python tests/attack [NAME ..] [--share .1]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack import Tally, bounds, fuzz, limits, resume, signals, worlds, writing

ATTACKS: dict[str, tuple[Callable[[Path, int], Tally], int]] = {
    "full-disk-appends": (writing.full_disk_appends, 300),
    "full-disk-writes": (writing.full_disk_writes, 300),
    "kills-in-appends": (writing.kills_in_appends, 600),
    "kills-in-writes": (writing.kills_in_writes, 600),
    "resumes": (resume.resumes, 300),
    "ctrl-c": (signals.ctrl_c, 100),
    "sigterm": (signals.sigterm, 30),
    "worlds": (worlds.misbehaving, 100),
    "limits": (limits.late_searches, 100),
    "late-learners": (limits.late_learners, 1000),
    "memory": (limits.greedy_runs, 100),
    "bounds": (bounds.small_and_greedy, 100),
    **{f"mutants-of-{name}": (fuzz.mutants(name), 10_000) for name in fuzz.PARSERS},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(ATTACKS), help=", ".join(ATTACKS))
    parser.add_argument("--share", type=float, default=1.0, help="of the attempts")
    parser.add_argument("--show", type=int, default=5, help="failures")
    asked = parser.parse_args()
    failed = 0
    for name in asked.names:
        attack, attempts = ATTACKS[name]
        with tempfile.TemporaryDirectory() as folder:
            tally = attack(Path(folder), max(1, int(attempts * asked.share)))
        print(tally.row(), flush=True)
        for failure in tally.failures[: asked.show]:
            print(f"    {failure}")
        failed += len(tally.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
