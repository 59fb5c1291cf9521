"""The machine that evaluates concepts: relations with one bit per state, and numba kernels that run programs on them.

A predicate over n1, .., nk entities is a list of n1 * .. * nk tuples; each tuple has one bit per state, 64 states in a
word, `TILE` words together: [tuples, TILE] uint64. So every rule of the grammar is a few word operations for 256 states
at once, whatever the number of entities: exchanging arguments only moves tuples, and a count adds up columns of bits
with carry-save adders. A program is evaluated for one tile of states after the other in one piece of memory, the
arena, which stays in the processor's cache. Bits behind the last state are arbitrary; nobody reads them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.kernels import kernel

__all__ = ["ALL", "STATES", "TILE", "Bits", "Code", "Op", "pack", "run"]

Bits = Words
Code = Ints

TILE = 4
STATES = 64 * TILE
ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
BYTE = np.uint64(255)
SPREAD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").view(np.uint64)[:, 0].copy()
"""The bits of a byte, each in a byte of its own, in the order of memory."""


class Op(IntEnum):
    """The instructions: [op, to, a, b, c, x, y, z, extra, more, static].

    to, a, b, c: places in the arena; x, y, z: sizes; static: needed for the first tile only.
    """

    NOT = 0  # to = c and not a
    AND = 1  # to = a and b
    OUTER = 2  # to(x, y) = a(x) and b(y)
    MOVE = 3  # to(i) = a(pool[extra + i])
    CLOSE = 4  # to = transitive closure of a over x entities
    SOME = 5  # to(x, z) = for some y, a(x, y) and b(y, z)
    EVERY = 6  # to(x) = c(x), and a(x, y) implies b(x, y) for all y; extra is 0 where b does not depend on x
    SAME = 7  # to(x) = c(x), and a(x, y) = b(x, y) for all y
    COUNT = 8  # to = the number of x tuples in a and b, as binary digits
    AGGREGATE = 9  # row extra of the aggregates = max, min, mean over scope a of the x functions from row y
    BIT = 10  # column extra = a
    NUMBER = 11  # column extra = the number a of x digits
    BIT_WITHIN = 12  # column extra = a, missing where b is false
    SHARE = 13  # column extra = number a / number b, of x digits, missing where b is 0
    REAL = 14  # column extra = aggregate number `more`, missing where it is NaN
    PRINT = 15  # fingerprint extra = that of x tuples of a within c


@kernel
def pack(table: NDArray[np.uint8], at: Code, first: int, count: int, out: Bits) -> None:
    """Zeros and ones [S or 1, N] of `count` states into the bits of states from `first` on; tuple i goes to at[i]."""
    n = table.shape[1]
    line = np.zeros(n, np.uint64)
    for s in range(count):
        state = first + s
        row = table[s % table.shape[0]]
        bit = np.uint64(state & 63)
        for i in range(n):
            line[i] |= np.uint64(row[i]) << bit
        if (state & 63) == 63 or s == count - 1:
            tile, w = state // STATES, (state // 64) % TILE
            for i in range(n):
                out[tile, at[i], w] |= line[i]
                line[i] = ZERO


@kernel
def _copy(m: Bits, to: int, source: Bits, a: int, n: int) -> None:
    """n tuples, one by one: assigning slices would compile half a library of error messages."""
    for i in range(n):
        for w in range(TILE):
            m[to + i, w] = source[a + i, w]


@kernel
def _outer(m: Bits, to: int, a: int, b: int, x: int, y: int) -> None:
    for i in range(x):
        for j in range(y):
            for w in range(TILE):
                m[to + i * y + j, w] = m[a + i, w] & m[b + j, w]


@kernel
def _add(m: Bits, to: int, b: int, n: int, v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64) -> None:
    """to(j) |= v and b(j) for n tuples."""
    for j in range(n):
        x, y = m[to + j], m[b + j]
        t0, t1 = x[0] | (v0 & y[0]), x[1] | (v1 & y[1])
        t2, t3 = x[2] | (v2 & y[2]), x[3] | (v3 & y[3])
        x[0], x[1], x[2], x[3] = t0, t1, t2, t3


@kernel
def _close(m: Bits, to: int, a: int, n: int) -> None:
    """Warshall's algorithm; a link that no state of the tile has is passed over."""
    _copy(m, to, m, a, n * n)
    for k in range(n):
        for i in range(n):
            v = m[to + i * n + k]
            if v[0] | v[1] | v[2] | v[3] != ZERO:
                _add(m, to + i * n, to + k * n, n, v[0], v[1], v[2], v[3])


@kernel
def _some(m: Bits, to: int, a: int, b: int, x: int, y: int, z: int) -> None:
    if z == 1:
        for i in range(x):
            t0 = t1 = t2 = t3 = ZERO
            role, filler = m[a + i * y : a + i * y + y], m[b : b + y]
            for j in range(y):
                t0 |= role[j, 0] & filler[j, 0]
                t1 |= role[j, 1] & filler[j, 1]
                t2 |= role[j, 2] & filler[j, 2]
                t3 |= role[j, 3] & filler[j, 3]
            m[to + i, 0], m[to + i, 1], m[to + i, 2], m[to + i, 3] = t0, t1, t2, t3
        return
    for i in range(to, to + x * z):
        for w in range(TILE):
            m[i, w] = ZERO
    for i in range(x):
        for j in range(y):
            v = m[a + i * y + j]
            if v[0] | v[1] | v[2] | v[3] != ZERO:
                _add(m, to + i * z, b + j * z, z, v[0], v[1], v[2], v[3])


@kernel
def _every(m: Bits, to: int, a: int, b: int, c: int, x: int, y: int, step: int, same: bool) -> None:
    """Equality or inclusion of the rows of a and b; step: how far b moves from row to row."""
    both = ALL if same else ZERO
    for i in range(x):
        role, filler, inside = m[a + i * y : a + i * y + y], m[b + i * step : b + i * step + y], m[c + i]
        t0, t1, t2, t3 = inside[0], inside[1], inside[2], inside[3]
        for j in range(y):
            t0 &= ~(role[j, 0] ^ filler[j, 0]) | (filler[j, 0] & ~both)
            t1 &= ~(role[j, 1] ^ filler[j, 1]) | (filler[j, 1] & ~both)
            t2 &= ~(role[j, 2] ^ filler[j, 2]) | (filler[j, 2] & ~both)
            t3 &= ~(role[j, 3] ^ filler[j, 3]) | (filler[j, 3] & ~both)
        m[to + i, 0], m[to + i, 1], m[to + i, 2], m[to + i, 3] = t0, t1, t2, t3


@kernel
def _sum(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """A full adder for 64 states: sum and carry."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@kernel
def _count(m: Bits, to: int, a: int, b: int, n: int, digits: int) -> None:
    """How many of n tuples are in a and b: digit d of the count of each state in tuple to + d. Four at a time."""
    left, right, out = m[a : a + n], m[b : b + n], m[to : to + digits]
    for w in range(TILE):
        for d in range(digits):
            out[d, w] = ZERO
        ones = twos = ZERO
        for i in range(0, n - 3, 4):
            ones, t1 = _sum(ones, left[i, w] & right[i, w], left[i + 1, w] & right[i + 1, w])
            ones, t2 = _sum(ones, left[i + 2, w] & right[i + 2, w], left[i + 3, w] & right[i + 3, w])
            twos, carry = _sum(twos, t1, t2)
            for d in range(2, digits):
                have = out[d, w]
                out[d, w] = have ^ carry
                carry &= have
        for i in range(n - n % 4, n):
            ones, t1 = _sum(ones, left[i, w] & right[i, w], ZERO)
            twos, carry = _sum(twos, t1, ZERO)
            for d in range(2, digits):
                have = out[d, w]
                out[d, w] = have ^ carry
                carry &= have
        if digits > 0:
            out[0, w] = ones
        if digits > 1:
            out[1, w] = twos


@kernel
def _number(m: Bits, a: int, w: int, digits: int, out: Ints) -> None:
    """The numbers of 64 states from their binary digits."""
    for s in range(64):
        out[s] = 0
    for d in range(digits):
        word, shift = m[a + d, w], np.uint64(d)
        for s in range(64):
            out[s] |= np.int64(((word >> np.uint64(s)) & ONE) << shift)


@kernel
def _aggregate(m: Bits, scope: int, values: Floats, first: int, out: Floats) -> None:
    """max, min, mean [3, STATES] of the numbers in the scope, NaN where there are none. NaN is no number."""
    states = min(STATES, values.shape[1] - first)
    number = np.zeros(STATES, np.int64)
    for s in range(STATES):
        out[0, s], out[1, s], out[2, s] = -np.inf, np.inf, 0.0
    for i in range(values.shape[0]):
        for s in range(states):
            value = values[i, first + s]
            if (m[scope + i, s >> 6] >> np.uint64(s & 63)) & ONE and value == value:
                number[s] += 1
                out[0, s] = max(out[0, s], value)
                out[1, s] = min(out[1, s], value)
                out[2, s] += value
    for s in range(states):
        if number[s] == 0:
            out[0, s] = out[1, s] = out[2, s] = np.nan
        else:
            out[2, s] /= number[s]


@kernel
def _bits(m: Bits, a: int, first: int, out: Floats) -> None:
    """One bit per state as 0.0 or 1.0."""
    for w in range(TILE):
        word = m[a, w]
        line = out[first + 64 * w : first + 64 * w + 64]
        for s in range(line.size):
            line[s] = np.float64(np.int32((word >> np.uint64(s)) & ONE))


@kernel
def _numbers(m: Bits, a: int, digits: int, first: int, out: Floats, eighths: Bits) -> None:
    """Numbers in binary digits as floats; those below 256 for eight states at once, a byte of eighths[8] for each."""
    small = eighths.view(np.uint8)
    for w in range(TILE):
        line = out[first + 64 * w : first + 64 * w + 64]
        if line.size == 0:
            return
        if digits > 8:
            number = np.empty(64, np.int64)
            _number(m, a, w, digits, number)
            for s in range(line.size):
                line[s] = number[s]
            continue
        for k in range(8):
            total, shift = ZERO, np.uint64(8 * k)
            for d in range(digits):
                total |= SPREAD[(m[a + d, w] >> shift) & BYTE] << np.uint64(d)
            eighths[k] = total
        for s in range(line.size):
            line[s] = small[s]


@kernel
def _shares(m: Bits, a: int, b: int, digits: int, first: int, out: Floats, missing: Bools) -> None:
    hits, total = np.empty(64, np.int64), np.empty(64, np.int64)
    for w in range(TILE):
        _number(m, a, w, digits, hits)
        _number(m, b, w, digits, total)
        for s in range(min(64, out.size - first - 64 * w)):
            none = total[s] == 0
            missing[first + 64 * w + s] = none
            out[first + 64 * w + s] = 0.0 if none else hits[s] / total[s]


@kernel
def _term(m: Bits, one: Code, pool: Code) -> None:
    """One instruction that makes a relation."""
    op, to, a, b, c, x, y, z, extra = one[0], one[1], one[2], one[3], one[4], one[5], one[6], one[7], one[8]
    if op == Op.SOME:
        _some(m, to, a, b, x, y, z)
    elif op == Op.EVERY:
        _every(m, to, a, b, c, x, y, y if extra else 0, False)
    elif op == Op.AND:
        left, right, made = m[a : a + x], m[b : b + x], m[to : to + x]
        for i in range(x):
            for w in range(TILE):
                made[i, w] = left[i, w] & right[i, w]
    elif op == Op.NOT:
        left, right, made = m[a : a + x], m[c : c + x], m[to : to + x]
        for i in range(x):
            for w in range(TILE):
                made[i, w] = right[i, w] & ~left[i, w]
    elif op == Op.COUNT:
        _count(m, to, a, b, x, y)
    elif op == Op.MOVE:
        for i in range(x):
            _copy(m, to + i, m, a + pool[extra + i], 1)
    elif op == Op.CLOSE:
        _close(m, to, a, x)
    elif op == Op.SAME:
        _every(m, to, a, b, c, x, y, y, True)
    elif op == Op.OUTER:
        _outer(m, to, a, b, x, y)


@kernel
def _column(m: Bits, one: Code, first: int, reals: Floats, values: Floats, missing: Bools, eighths: Bits) -> None:
    """One instruction that writes a column of results for the states from `first` on."""
    op, a, b, x = one[0], one[2], one[3], one[5]
    out, none = values[one[8]], missing[one[8]]
    states = min(STATES, out.size - first)
    if op == Op.NUMBER:
        _numbers(m, a, x, first, out, eighths)
    elif op == Op.BIT:
        _bits(m, a, first, out)
    elif op == Op.BIT_WITHIN:
        _bits(m, a, first, out)
        for s in range(states):
            if not (m[b, s >> 6] >> np.uint64(s & 63)) & ONE:
                out[first + s], none[first + s] = 0.0, True
    elif op == Op.SHARE:
        _shares(m, a, b, x, first, out, none)
    elif op == Op.REAL:
        for s in range(states):
            value = reals[one[9] // 3, one[9] % 3, s]
            none[first + s] = value != value
            out[first + s] = value if value == value else 0.0


@kernel
def _print(m: Bits, a: int, c: int, n: int, states: int, out: Bits) -> None:
    """Mix a relation into out[0:2]; out[2] is set if it is not empty, out[3] if it is not all of c."""
    one, two = out[0], out[1]
    for w in range(min(TILE, (states + 63) // 64)):
        left = states - 64 * w
        valid = ALL if left >= 64 else (ONE << np.uint64(left)) - ONE
        for i in range(n):
            word = m[a + i, w] & valid
            one = (one ^ word) * np.uint64(0x9E3779B97F4A7C15)
            one ^= one >> np.uint64(29)
            two = (two + word) * np.uint64(0xC2B2AE3D27D4EB4F)
            two ^= two >> np.uint64(31)
            out[2] |= word
            out[3] |= (m[c + i, w] & valid) ^ word
    out[0], out[1] = one, two


@kernel
def run(
    code: Code, inputs: Bits, pool: Code, m: Bits, functions: Floats, values: Floats, missing: Bools, prints: Bits,
    states: int,
) -> None:  # fmt: skip
    """Evaluate a program: inputs [tiles, N, TILE] are the first N tuples of the arena m; one column [S] per result,
    one row [4] per fingerprint.

    What does not depend on the state is evaluated in the first tile only.
    """
    aggregates = 0
    for i in range(code.shape[0]):
        if code[i, 0] == Op.AGGREGATE:
            aggregates += 1
    reals, eighths = np.empty((aggregates, 3, STATES), np.float64), np.empty(8, np.uint64)
    for tile in range(inputs.shape[0]):
        _copy(m, 0, inputs[tile], 0, inputs.shape[1])
        first = tile * STATES
        for i in range(code.shape[0]):
            one = code[i]
            if one[0] == Op.PRINT:
                _print(m, one[2], one[4], one[5], states - first, prints[one[8]])
            elif one[0] >= Op.BIT:
                _column(m, one, first, reals, values, missing, eighths)
            elif one[0] == Op.AGGREGATE:
                _aggregate(m, one[2], functions[one[6] : one[6] + one[5]], first, reals[one[8]])
            elif tile == 0 or one[10] == 0:
                _term(m, one, pool)
