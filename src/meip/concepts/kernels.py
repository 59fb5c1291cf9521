"""Relations as rows of bits: the numba kernels that concepts are evaluated with.

A predicate over n1, .., nk entities in S states is a uint64 array [S, R, W]: R = n1 * .. * n(k-1) rows, and in each row
the last argument in W = ceil(nk / 64) words, padding bits zero. A nullary predicate is one row of one bit. Where all
states agree S is 1; operands with S = 1 and S > 1 mix freely. Dense loops over bits take the branch-free form where a
row fits in one word, because that one vectorises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from meip.kernels import kernel

__all__ = [
    "Bits",
    "aggregate",
    "agree",
    "close",
    "compose",
    "conjoin",
    "count",
    "count_within",
    "invert",
    "negate",
    "pack",
    "permute",
    "restrict",
]

Bits = NDArray[np.uint64]
Floats = NDArray[np.float64]

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLES = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)
_1, _2, _4, _56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@kernel
def _ones(word: np.uint64) -> np.uint64:
    """The number of set bits, in a form that compilers recognise as the processor's own instruction."""
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _2) & _NIBBLES)
    return (((word + (word >> _4)) & _BYTES) * _SUM) >> _56


@kernel
def pack(table: NDArray[np.uint8], words: int) -> Bits:
    """Zeros and ones [S, R, n] to bits [S, R, W]."""
    states, rows, n = table.shape
    out = np.zeros((states, rows, words), np.uint64)
    for s in range(states):
        for r in range(rows):
            for w in range(words):
                word = ZERO
                for b in range(w * 64, min(n, w * 64 + 64)):
                    word |= np.uint64(table[s, r, b]) << np.uint64(b & 63)
                out[s, r, w] = word
    return out


@kernel
def negate(a: Bits, n: int) -> Bits:
    """The complement; the padding behind the n bits of a row stays zero."""
    out = np.empty_like(a)
    words = a.shape[2]
    last = ALL if n % 64 == 0 else (ONE << np.uint64(n % 64)) - ONE
    for s in range(a.shape[0]):
        for r in range(a.shape[1]):
            for w in range(words):
                out[s, r, w] = ~a[s, r, w]
            if words > 0:
                out[s, r, words - 1] &= last
    return out


@kernel
def conjoin(a: Bits, b: Bits) -> Bits:
    """The intersection."""
    states = max(a.shape[0], b.shape[0])
    out = np.empty((states, a.shape[1], a.shape[2]), np.uint64)
    for s in range(states):
        x, y, z = a[s % a.shape[0]], b[s % b.shape[0]], out[s]
        for r in range(a.shape[1]):
            for w in range(a.shape[2]):
                z[r, w] = x[r, w] & y[r, w]
    return out


@kernel
def invert(a: Bits, n: int, words: int) -> Bits:
    """A binary relation with its arguments exchanged: [S, m rows of n bits] to [S, n rows of m bits]."""
    states, m, _ = a.shape
    out = np.zeros((states, n, words), np.uint64)
    flat = out.reshape(states, n * words)
    for s in range(states):
        line = flat[s]
        for i in range(m):
            to, shift = i >> 6, np.uint64(i & 63)
            if words == 1 and a.shape[2] == 1:
                row = a[s, i, 0]
                for j in range(line.size):
                    line[j] |= ((row >> np.uint64(j)) & ONE) << shift
                continue
            for w in range(a.shape[2]):
                word = a[s, i, w]
                for j in range(w * 64, min(n, w * 64 + 64)):
                    out[s, j, to] |= ((word >> np.uint64(j & 63)) & ONE) << shift
    return out


@kernel
def permute(a: Bits, offset: NDArray[np.int64], step: int, shape: tuple[int, int, int]) -> Bits:
    """Arguments in another order: bit b of row r becomes tuple number offset[r] + b * step of the result.

    shape: rows, words, and bits per row of the result.
    """
    rows, words, n = shape
    out = np.zeros((a.shape[0], rows, words), np.uint64)
    for s in range(a.shape[0]):
        for r in range(a.shape[1]):
            for w in range(a.shape[2]):
                word = a[s, r, w]
                bit = w * 64
                while word != ZERO:
                    if word & ONE:
                        to = offset[r] + bit * step
                        row = to // n
                        left = to - row * n
                        out[s, row, left >> 6] |= ONE << np.uint64(left & 63)
                    word >>= ONE
                    bit += 1
    return out


@kernel
def close(a: Bits) -> Bits:
    """Transitive closure by Warshall's algorithm, a whole row of bits at a time."""
    out = a.copy()
    n, words = a.shape[1], a.shape[2]
    flat = out.reshape(a.shape[0], n * words)
    for s in range(a.shape[0]):
        line = flat[s]
        for k in range(n):
            at, shift = k >> 6, np.uint64(k & 63)
            if words == 1:
                row = line[k]
                for i in range(line.size):
                    line[i] |= row & (ZERO - ((line[i] >> shift) & ONE))
            else:
                for i in range(n):
                    if (out[s, i, at] >> shift) & ONE:
                        for w in range(words):
                            out[s, i, w] |= out[s, k, w]
    return out


@kernel
def compose(a: Bits, b: Bits, n: int, inner: int) -> Bits:
    """{(x.., z..) : for some y, a(x.., y) and b(y, z..)}, with n values of y; b has `inner` rows for each of them."""
    states = max(a.shape[0], b.shape[0])
    words = b.shape[2]
    out = np.zeros((states, a.shape[1] * inner, words), np.uint64)
    flat, wide = a.reshape(a.shape[0], a.shape[1] * a.shape[2]), out.reshape(states, a.shape[1] * inner * words)
    for s in range(states):
        x, z, to = a[s % a.shape[0]], b[s % b.shape[0]], out[s]
        for y in range(n):
            at, shift = y >> 6, np.uint64(y & 63)
            if inner == 1 and words == 1 and a.shape[2] == 1:
                row, line, target = z[y, 0], flat[s % a.shape[0]], wide[s]
                for r in range(line.size):
                    target[r] |= row & (ZERO - ((line[r] >> shift) & ONE))
            else:
                for r in range(a.shape[1]):
                    if (x[r, at] >> shift) & ONE:
                        for q in range(inner):
                            for w in range(words):
                                to[r * inner + q, w] |= z[y * inner + q, w]
    return out


@kernel
def restrict(role: Bits, filler: Bits, every: bool, shape: tuple[int, int, int]) -> Bits:
    """{(x..) : some (every) y with role(x.., y) is in the filler}; shape: the result's rows, words, bits per row."""
    states = max(role.shape[0], filler.shape[0])
    rows, words, last = shape
    out = np.empty((states, rows, words), np.uint64)
    flip = ALL if every else ZERO
    same_role, same_filler = role.shape[0] == 1, filler.shape[0] == 1
    flat = role.reshape(role.shape[0], role.shape[1] * role.shape[2])
    for s in range(states):
        at, of = 0 if same_role else s, 0 if same_filler else s
        for r in range(rows):
            for word in range(words):
                first = r * last + word * 64
                length = min(64, last - word * 64)
                bits = ZERO
                if role.shape[2] == 1:
                    wanted = filler[of, 0, 0] ^ flip
                    found_in = flat[at, first : first + length]
                    for j in range(found_in.size):
                        bits |= np.uint64((found_in[j] & wanted) != ZERO) << np.uint64(j)
                else:
                    for j in range(length):
                        found = ZERO
                        for w in range(role.shape[2]):
                            found |= role[at, first + j, w] & (filler[of, 0, w] ^ flip)
                        bits |= np.uint64(found != ZERO) << np.uint64(j)
                if every:
                    bits ^= ALL if length == 64 else (ONE << np.uint64(length)) - ONE
                out[s, r, word] = bits
    return out


@kernel
def agree(a: Bits, b: Bits, same: bool, shape: tuple[int, int, int]) -> Bits:
    """{(x..) : the rows of a and b at x are equal (a's is included in b's)}; shape as above."""
    states = max(a.shape[0], b.shape[0])
    rows, words, last = shape
    out = np.zeros((states, rows, words), np.uint64)
    both = ALL if same else ZERO
    for s in range(states):
        x, y = a[s % a.shape[0]], b[s % b.shape[0]]
        for r in range(rows):
            for j in range(last):
                found = ZERO
                for w in range(a.shape[2]):
                    left, right = x[r * last + j, w], y[r * last + j, w]
                    found |= (left & ~right) | (right & ~left & both)
                out[s, r, j >> 6] |= np.uint64(found == ZERO) << np.uint64(j & 63)
    return out


@kernel
def count(a: Bits) -> Floats:
    """How many tuples are in a relation, state by state."""
    states, rows, words = a.shape
    flat = a.reshape(states, rows * words)
    out = np.empty(states, np.float64)
    if rows * words == 1:
        line = a.reshape(states)
        for s in range(states):
            out[s] = np.int64(_ones(line[s]))
        return out
    for s in range(states):
        total = ZERO
        for i in range(rows * words):
            total += _ones(flat[s, i])
        out[s] = total
    return out


@kernel
def count_within(a: Bits, b: Bits) -> Floats:
    """How many tuples are in both relations, without making their intersection."""
    states = max(a.shape[0], b.shape[0])
    size = a.shape[1] * a.shape[2]
    left, right = a.reshape(a.shape[0], size), b.reshape(b.shape[0], size)
    out = np.empty(states, np.float64)
    for s in range(states):
        x, y = left[s % a.shape[0]], right[s % b.shape[0]]
        total = ZERO
        for i in range(size):
            total += _ones(x[i] & y[i])
        out[s] = total
    return out


@kernel
def aggregate(values: NDArray[np.float64], scope: Bits) -> Floats:
    """max, min and mean (rows 0, 1, 2) of the numbers in the scope; NaN where there are none. NaN is no number."""
    states = max(values.shape[0], scope.shape[0])
    out = np.full((3, states), np.nan)
    for s in range(states):
        x, y = values[s % values.shape[0]], scope[s % scope.shape[0]]
        number, total, most, least = 0, 0.0, -np.inf, np.inf
        for r in range(x.shape[0]):
            for i in range(x.shape[1]):
                value = x[r, i]
                if (y[r, i >> 6] >> np.uint64(i & 63)) & ONE and value == value:
                    number += 1
                    total += value
                    most = max(most, value)
                    least = min(least, value)
        if number > 0:
            out[0, s], out[1, s], out[2, s] = most, least, total / number
    return out
