"""The instructions of `kernels` in numpy: for work so small that compiling would take longer, and to test kernels by.

The same bits, the same order of sums: which of the two ran cannot be seen in a result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Bools, Floats
from meip.concepts.values.kernels import ALL, STATES, TILE, Bits, Code, Op

__all__ = ["pack", "run"]

WORD = (1 << 64) - 1
ONE, TWO = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


def pack(table: NDArray[np.uint8], at: Code, first: int, count: int, out: Bits) -> None:
    """Zeros and ones [S or 1, N] of `count` states into the bits of states from `first` on; tuple i goes to at[i]."""
    low, high = first // STATES, -(-(first + count) // STATES)
    bits = np.zeros((table.shape[1], (high - low) * STATES), np.uint8)
    bits[:, first - low * STATES : first - low * STATES + count] = table.T
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(len(bits), high - low, TILE)
    out[low:high, at] |= words.transpose(1, 0, 2)


def run(
    code: Code, inputs: Bits, pool: Code, m: Bits, functions: Floats, values: Floats, missing: Bools, prints: Bits,
    states: int,
) -> None:  # fmt: skip
    """Evaluate a program, as `kernels.run` does: tile by tile, in place, in the arena m."""
    reals: dict[int, Floats] = {}  # [3, STATES] by row of the aggregates
    for tile in range(len(inputs)):
        m[: inputs.shape[1]] = inputs[tile]
        first = tile * STATES
        for op, to, a, b, c, x, y, z, extra, more, static in code.tolist():
            if op == Op.PRINT:
                _print(m[a : a + x], m[c : c + x], states - first, prints[extra])
            elif op >= Op.BIT:
                _column(op, m, a, b, x, first, reals.get(more // 3), more % 3, values[extra], missing[extra])
            elif op == Op.AGGREGATE:
                reals[extra] = _aggregate(m[a : a + x], functions[y : y + x, first : first + STATES])
            elif tile == 0 or static == 0:
                _term(op, m, to, a, b, c, x, y, z, pool[extra : extra + x] if op == Op.MOVE else extra)


def _term(op: int, m: Bits, to: int, a: int, b: int, c: int, x: int, y: int, z: int, extra: int | Code) -> None:
    """One instruction that makes a relation."""
    if op == Op.SOME:
        left, right = m[a : a + x * y].reshape(x, y, TILE), m[b : b + y * z].reshape(y, z, TILE)
        some = np.zeros((x, z, TILE), np.uint64)
        for j in range(y):
            some |= left[:, j, None] & right[j]
        m[to : to + x * z] = some.reshape(-1, TILE)
    elif op in (Op.EVERY, Op.SAME):
        left = m[a : a + x * y].reshape(x, y, TILE)
        right = m[b : b + x * y].reshape(x, y, TILE) if op == Op.SAME or extra else m[b : b + y]
        holds = ~(left ^ right) if op == Op.SAME else ~left | right
        m[to : to + x] = m[c : c + x] & np.bitwise_and.reduce(holds, axis=1)
    elif op == Op.AND:
        m[to : to + x] = m[a : a + x] & m[b : b + x]
    elif op == Op.NOT:
        m[to : to + x] = m[c : c + x] & ~m[a : a + x]
    elif op == Op.COUNT:
        number = _bits(m[a : a + x] & m[b : b + x]).sum(axis=0, dtype=np.int64)
        digits = (number >> np.arange(y)[:, None]) & 1
        m[to : to + y] = np.packbits(digits.astype(np.uint8), axis=1, bitorder="little").view("<u8")
    elif op == Op.MOVE:
        m[to : to + x] = m[a + extra]
    elif op == Op.CLOSE:
        closed = m[a : a + x * x].reshape(x, x, TILE).copy()
        for k in range(x):  # Warshall's algorithm
            closed |= closed[:, k, None] & closed[k]
        m[to : to + x * x] = closed.reshape(-1, TILE)
    elif op == Op.OUTER:
        m[to : to + x * y] = (m[a : a + x, None] & m[b : b + y]).reshape(-1, TILE)


def _column(
    op: int, m: Bits, a: int, b: int, x: int, first: int, real: Floats | None, which: int, out: Floats, none: Bools
) -> None:  # fmt: skip
    """One instruction that writes a column of results for the states from `first` on."""
    out, none = out[first : first + STATES], none[first : first + STATES]
    states = len(out)
    if op == Op.NUMBER:
        out[:] = _number(m[a : a + x])[:states]
    elif op == Op.BIT:
        out[:] = _bits(m[a])[:states]
    elif op == Op.BIT_WITHIN:
        outside = _bits(m[b])[:states] == 0
        out[:] = np.where(outside, 0.0, _bits(m[a])[:states])
        none[outside] = True
    elif op == Op.SHARE:
        hits, total = _number(m[a : a + x])[:states], _number(m[b : b + x])[:states]
        none[:] = total == 0
        out[:] = np.where(none, 0.0, hits / np.maximum(total, 1))
    elif op == Op.REAL and real is not None:
        value = real[which, :states]
        none[:] = np.isnan(value)
        out[:] = np.where(none, 0.0, value)


def _bits(words: Bits) -> NDArray[np.uint8]:
    """[.., TILE] words as [.., STATES] zeros and ones."""
    return np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), axis=-1, bitorder="little")


def _number(digits: Bits) -> Code:
    """[x, TILE] binary digits as numbers [STATES]."""
    weights: Code = np.left_shift(1, np.arange(len(digits)))
    return weights @ _bits(digits).astype(np.int64)


def _aggregate(scope: Bits, values: Floats) -> Floats:
    """max, min, mean [3, S] of the numbers in the scope, NaN where there are none. NaN is no number."""
    inside = (_bits(scope)[:, : values.shape[1]] != 0) & ~np.isnan(values)
    out = np.empty((3, values.shape[1]))
    out[0] = np.where(inside, values, -np.inf).max(axis=0, initial=-np.inf)
    out[1] = np.where(inside, values, np.inf).min(axis=0, initial=np.inf)
    out[2] = 0.0
    for row in np.where(inside, values, 0.0):  # one after the other: the sum of many depends on the order
        out[2] += row
    number = inside.sum(axis=0)
    out[2] /= np.maximum(number, 1)
    out[:, number == 0] = np.nan
    return out


def _print(relation: Bits, everything: Bits, states: int, out: Bits) -> None:
    """Mix a relation into out[0:2]; out[2] is set if it is not empty, out[3] if it is not all of `everything`."""
    one, two = int(out[0]), int(out[1])
    for w in range(min(TILE, -(-states // 64))):
        left = states - 64 * w
        valid = ALL if left >= 64 else np.uint64((1 << left) - 1)
        words = relation[:, w] & valid
        for word in words.tolist():
            one = (one ^ word) * ONE & WORD
            one ^= one >> 29
            two = (two + word) * TWO & WORD
            two ^= two >> 31
        out[2] |= np.bitwise_or.reduce(words)
        out[3] |= np.bitwise_or.reduce((everything[:, w] & valid) ^ words)
    out[0], out[1] = one, two
