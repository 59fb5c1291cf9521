"""The inner loops over packed states, compiled. Arrays in, arrays out; names and shapes as in `tables.ActionTable`.

Each is compiled once: states are always [K, width] in one piece and writable, their numbers the same words read as
floats from `words` on (a view of the last columns would be another type of array for one state than for two), and what
kernels hand each other comes out of arrays (0 by name would be a type of its own). Conditions that are more than bits
have kernels of their own, which a domain without them never compiles.
"""

from __future__ import annotations

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.kernels import kernel

__all__ = [
    "all_set", "apply_general", "apply_plain", "hash_row", "holds", "insert", "keep_conditions", "match", "rehash",
]  # fmt: skip


_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, dtype=np.int64)
for _i in range(64):
    _POSITION[(int(_DE_BRUIJN) << _i & 0xFFFFFFFFFFFFFFFF) >> 58] = _i


@kernel
def _passes(row: Words, action: int, test_start: Ints, test_word: Ints, test_mask: Words, test_need: Words) -> bool:
    for j in range(test_start[action], test_start[action + 1]):
        if row[test_word[j]] & test_mask[j] != test_need[j]:
            return False
    return True


@kernel
def _grown(buffer: Ints) -> Ints:
    larger = np.empty(2 * len(buffer), dtype=np.int64)
    for i in range(len(buffer)):  # assigning a slice would compile the joining of strings for its error message
        larger[i] = buffer[i]
    return larger


@kernel
def _sort(buffer: Ints, low: int, high: int) -> None:
    """Insertion sort, as the runs are short and nearly in order; of long ones first what is far apart (Shell's)."""
    gap = 1
    while 256 * gap < high - low:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(low + gap, high):
            x = buffer[i]
            j = i - gap
            while j >= low and buffer[j] > x:
                buffer[j + gap] = buffer[j]
                j -= gap
            buffer[j + gap] = x
        gap //= 3


@kernel
def match(
    states: Words,  # [K, width]
    words: int,
    watch_start: Ints,  # [bits + 2] actions watched by each bit; the last bucket is always looked at
    watch_action: Ints,
    test_start: Ints,
    test_word: Ints,
    test_mask: Words,
    test_need: Words,
) -> tuple[Ints, Ints]:
    """The actions whose bit tests pass in each state, ascending: offsets [K + 1] and actions."""
    count = states.shape[0]
    offsets = np.zeros(count + 1, dtype=np.int64)
    found = np.empty(max(256, 16 * count), dtype=np.int64)
    one, shift, none = np.uint64(1), np.uint64(58), np.uint64(0)
    n = 0
    bits = len(watch_start) - 2
    for k in range(count):
        row = states[k]
        for w in range(words + 1):
            word = row[w] if w < words else one
            while word != none:
                low = word & (~word + one)
                fact = 64 * w + _POSITION[(low * _DE_BRUIJN) >> shift] if w < words else bits
                word ^= low
                for j in range(watch_start[fact], watch_start[fact + 1]):
                    action = watch_action[j]
                    if _passes(row, action, test_start, test_word, test_mask, test_need):
                        if n == len(found):
                            found = _grown(found)
                        found[n] = action
                        n += 1
        offsets[k + 1] = n
        _sort(found, offsets[k], offsets[k + 1])
    return offsets, found[:n]


@kernel
def apply_plain(
    states: Words, offsets: Ints, actions: Ints, patch_start: Ints, patch_word: Ints, patch_clear: Words, patch_set:
    Words,
) -> Words:  # fmt: skip
    """[M, width] the successors of each state by its actions, for actions with one outcome that only change bits."""
    width = states.shape[1]
    out = np.empty((len(actions), width), dtype=np.uint64)
    for k in range(states.shape[0]):
        for m in range(offsets[k], offsets[k + 1]):
            for w in range(width):
                out[m, w] = states[k, w]
            for j in range(patch_start[actions[m]], patch_start[actions[m] + 1]):
                w = patch_word[j]
                out[m, w] = (out[m, w] & ~patch_clear[j]) | patch_set[j]
    return out


@kernel
def _bit(row: Words, fact: int) -> bool:
    return bool((row[fact >> 6] >> np.uint64(fact & 63)) & np.uint64(1) != np.uint64(0))


@kernel
def _run(
    program: int, row: Words, numbers: Floats, words: int, start: Ints, operation: Ints, integer: Ints, real: Floats,
    stack: Floats,
) -> float:  # fmt: skip
    """The value of a postfix program in a state; conditions are 0 or 1 (operations as in `programs`)."""
    top = -1
    for i in range(start[program], start[program + 1]):
        code = operation[i]
        if code == 0:
            top += 1
            stack[top] = real[i]
        elif code == 1 or code == 2:
            top += 1
            stack[top] = 1.0 if _bit(row, integer[i]) == (code == 1) else 0.0
        elif code == 3:
            top += 1
            stack[top] = numbers[words + integer[i]]
        elif code == 8:
            stack[top] = -stack[top]
        elif code == 16:
            stack[top] = 1.0 - stack[top]
        elif code >= 14:
            true = 0
            for j in range(integer[i]):
                if stack[top - j] != 0.0:
                    true += 1
            top -= integer[i] - 1
            stack[top] = 1.0 if (true == integer[i] if code == 14 else true > 0) else 0.0
        else:
            top -= 1
            stack[top] = _binary(code, stack[top], stack[top + 1])
    return float(stack[0])


@kernel
def _binary(code: int, one: float, other: float) -> float:
    if code == 4:
        return one + other
    if code == 5:
        return one - other
    if code == 6:
        return one * other
    if code == 7:
        return one / other if other != 0.0 else np.nan
    true = one == other
    if code == 9:
        true = one < other
    elif code == 10:
        true = one <= other
    elif code == 12:
        true = one >= other
    elif code == 13:
        true = one > other
    return 1.0 if true else 0.0


@kernel
def keep_conditions(
    states: Words, numbers: Floats, words: int, offsets: Ints, actions: Ints, condition: Ints, start: Ints,
    operation: Ints, integer: Ints, real: Floats,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Drop the actions whose further condition is false."""
    stack = np.empty(len(operation) + 1, dtype=np.float64)
    kept_offsets = np.zeros_like(offsets)
    kept = np.empty_like(actions)
    n = 0
    for k in range(len(offsets) - 1):
        for m in range(offsets[k], offsets[k + 1]):
            program, row, own = condition[actions[m]], states[k], numbers[k]
            if program < 0 or _run(program, row, own, words, start, operation, integer, real, stack) != 0.0:
                kept[n] = actions[m]
                n += 1
        kept_offsets[k + 1] = n
    return kept_offsets, kept[:n]


@kernel
def _assign(kind: int, old: float, amount: float) -> float:
    if kind == 1:
        return old + amount
    if kind == 2:
        return old - amount
    if kind == 3:
        return old * amount
    if kind == 4:
        return old / amount if amount != 0.0 else np.nan
    return amount


@kernel
def apply_general(
    states: Words,  # [K, width]
    numbers: Floats,  # [K, width] the same as floats
    words: int,  # where numbers begin
    parents: Ints,  # [M] the state of each result
    outcomes: Ints,  # [M] the outcome that happens
    out: Words,  # [M, width] results
    out_numbers: Floats,  # [M, width] the same as floats
    patch_start: Ints,
    patch_word: Ints,
    patch_clear: Words,
    patch_set: Words,
    when_start: Ints,
    when_program: Ints,
    when_fact: Ints,
    when_add: Ints,
    set_start: Ints,
    set_program: Ints,
    set_kind: Ints,
    set_target: Ints,
    set_amount: Ints,
    start: Ints,
    operation: Ints,
    integer: Ints,
    real: Floats,
) -> None:
    """Outcomes with conditional and numeric changes. Conditions and amounts are of the old state; deletions first."""
    stack = np.empty(len(operation) + 1, dtype=np.float64)
    one = np.uint64(1)
    for m in range(len(outcomes)):
        k, o = parents[m], outcomes[m]
        row, old = states[k], numbers[k]
        for w in range(states.shape[1]):
            out[m, w] = row[w]
        for j in range(patch_start[o], patch_start[o + 1]):
            out[m, patch_word[j]] &= ~patch_clear[j]
        for add in range(2):
            for j in range(when_start[o], when_start[o + 1]):
                if when_add[j] != add:
                    continue
                if _run(when_program[j], row, old, words, start, operation, integer, real, stack) != 0.0:
                    bit = one << np.uint64(when_fact[j] & 63)
                    w = when_fact[j] >> 6
                    out[m, w] = out[m, w] | bit if add == 1 else out[m, w] & ~bit
            if add == 0:
                for j in range(patch_start[o], patch_start[o + 1]):
                    out[m, patch_word[j]] |= patch_set[j]
        for j in range(set_start[o], set_start[o + 1]):
            program = set_program[j]
            if program < 0 or _run(program, row, old, words, start, operation, integer, real, stack) != 0.0:
                amount = _run(set_amount[j], row, old, words, start, operation, integer, real, stack)
                at = words + set_target[j]
                # + 0.0 makes -0.0 equal 0.0, bit by bit
                out_numbers[m, at] = _assign(set_kind[j], out_numbers[m, at], amount) + 0.0


@kernel
def all_set(states: Words, test_word: Ints, test_mask: Words, test_need: Words, out: Bools) -> None:
    """out [K]: do all bits have the values that are needed?"""
    for k in range(states.shape[0]):
        out[k] = True
        for j in range(len(test_word)):
            if states[k, test_word[j]] & test_mask[j] != test_need[j]:
                out[k] = False
                break


@kernel
def holds(
    states: Words, numbers: Floats, words: int, program: int, start: Ints, operation: Ints, integer: Ints, real: Floats,
    out: Bools,
) -> None:  # fmt: skip
    """out [K]: is the condition true, too?"""
    stack = np.empty(len(operation) + 1, dtype=np.float64)
    for k in range(states.shape[0]):
        if out[k]:
            out[k] = _run(program, states[k], numbers[k], words, start, operation, integer, real, stack) != 0.0


@kernel
def hash_row(row: Words) -> np.uint64:
    """A 64-bit mix of all words."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for w in range(len(row)):
        value ^= row[w]
        value *= np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(29)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(32))


@kernel
def insert(
    rows: Words,  # [K, width] to be looked up
    stored: Words,  # [capacity, width] rows by id
    count: int,
    slots: Ints,  # [2^p] id of each occupied slot, else -1
    ids: Ints,  # [K] out: id
    fresh: Bools,  # [K] out: was it new?
) -> int:
    """Open addressing with linear probing; returns the new count."""
    mask = np.uint64(len(slots) - 1)
    for k in range(rows.shape[0]):
        slot = np.int64(hash_row(rows[k]) & mask)
        ids[k] = -1
        fresh[k] = False
        while slots[slot] >= 0:
            other = slots[slot]
            same = True
            for w in range(rows.shape[1]):
                if stored[other, w] != rows[k, w]:
                    same = False
                    break
            if same:
                ids[k] = other
                break
            slot = (slot + 1) & np.int64(mask)
        if ids[k] < 0:
            for w in range(rows.shape[1]):
                stored[count, w] = rows[k, w]
            slots[slot] = count
            ids[k] = count
            fresh[k] = True
            count += 1
    return count


@kernel
def rehash(stored: Words, count: int, slots: Ints) -> None:
    """Fill a larger, empty slot table."""
    mask = np.int64(len(slots) - 1)
    for i in range(count):
        slot = np.int64(hash_row(stored[i]) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i
