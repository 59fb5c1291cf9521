"""Grouping of equal rows and equal plans, by hashing: what no concept tells apart is computed once."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.kernels import kernel

__all__ = ["column_prints", "distinct_plans", "distinct_rows"]


def column_prints(columns: Floats, digits: int) -> list[bytes]:
    """A short print of each column [N, F], the same for columns that are the same to so many digits; empty for zeros,
    so that many columns can be compared without being kept."""
    rounded = np.ascontiguousarray(np.round(columns, digits).T) + 0.0  # + 0.0: -0 and 0 are equal
    some = (np.abs(rounded).sum(axis=1) > 0).tolist()
    return [blake2b(row, digest_size=16).digest() if on else b"" for row, on in zip(rounded, some, strict=True)]


def distinct_rows(table: Floats) -> tuple[Ints, Ints]:
    """A code for each row [S], equal for equal rows, in order of first appearance; and the first row of each code."""
    bits = np.ascontiguousarray(table + 0.0).view(np.uint64).reshape(len(table), -1)  # + 0.0: -0 and 0 are equal
    code = np.empty(len(table), np.int64)
    first = np.empty(len(table), np.int64)
    count = _group(bits, np.full(_room(len(table)), -1, np.int64), code, first)
    return code, first[:count].copy()


def distinct_plans(
    plans: Ints, lengths: Ints, log_weight: Floats, groups: Ints, code: Ints
) -> tuple[Ints, Floats, Ints]:
    """Merge the plans of each group whose states have equal codes.

    Returns a representative plan for each that is left, its log weight (the log of the sum), and where groups begin.
    """
    rows = np.empty(len(plans), np.int64)
    total = np.empty(len(plans))
    first = np.zeros(len(groups), np.int64)
    largest = int(np.diff(groups).max()) if len(groups) > 1 else 0
    count = _merge(plans, lengths, log_weight, groups, code, np.full(_room(largest), -1, np.int64), rows, total, first)
    return rows[:count].copy(), total[:count].copy(), first


def _room(count: int) -> int:
    """Slots of a hash table for this many entries: a power of two, at most half full."""
    return 1 << max(4, int(2 * count).bit_length())


@kernel
def _mix(h: Any, value: Any) -> Any:
    h = (h ^ value) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@kernel
def _group(bits: Any, table: Any, code: Any, first: Any) -> int:
    mask = np.uint64(len(table) - 1)
    count = 0
    for i in range(bits.shape[0]):
        h = np.uint64(0x2545F4914F6CDD1D)
        for k in range(bits.shape[1]):
            h = _mix(h, bits[i, k])
        slot = h & mask
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = count
                first[count] = i
                code[i] = count
                count += 1
                break
            same = True
            for k in range(bits.shape[1]):
                if bits[first[found], k] != bits[i, k]:
                    same = False
                    break
            if same:
                code[i] = found
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@kernel
def _equal(plans: Any, lengths: Any, code: Any, a: int, b: int) -> bool:
    if lengths[a] != lengths[b]:
        return False
    for k in range(lengths[a]):  # noqa: SIM110  (compiled: a plain loop)
        if code[plans[a, k]] != code[plans[b, k]]:
            return False
    return True


@kernel
def _merge(
    plans: Any, lengths: Any, log_weight: Any, groups: Any, code: Any, table: Any, rows: Any, total: Any, first: Any
) -> int:
    count = 0
    for k in range(len(groups) - 1):
        first[k] = count
        room = 16
        while room < 2 * (groups[k + 1] - groups[k]):
            room *= 2
        table[:room] = -1
        mask = np.uint64(room - 1)
        for i in range(groups[k], groups[k + 1]):
            h = np.uint64(lengths[i])
            for n in range(lengths[i]):
                h = _mix(h, np.uint64(code[plans[i, n]]))
            slot = h & mask
            while table[slot] >= 0 and not _equal(plans, lengths, code, rows[table[slot]], i):
                slot = (slot + np.uint64(1)) & mask
            if table[slot] < 0:
                table[slot] = count
                rows[count] = i
                total[count] = log_weight[i]
                count += 1
            else:
                entry = table[slot]
                a, b = max(total[entry], log_weight[i]), min(total[entry], log_weight[i])
                total[entry] = a + np.log1p(np.exp(b - a))
    first[len(groups) - 1] = count
    return count
