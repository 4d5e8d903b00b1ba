"""The one compiled loop of drawing weights, apart: intervals alone do not wait for numba."""

from __future__ import annotations

from audit.compiled import kernel


@kernel
def look_up(high, table, out, undecided):  # type: ignore[no-untyped-def]
    """Fill ``out`` with weights; return how many of its places are left ``undecided``, which it fills too."""
    found = 0
    for row in range(len(out)):
        for bucket in range(out.shape[1]):
            weight = table[high[row, bucket]]
            out[row, bucket] = weight
            if weight == 255:
                undecided[found, 0] = row
                undecided[found, 1] = bucket
                found += 1
    return found
