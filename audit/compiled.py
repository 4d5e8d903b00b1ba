"""How loops are compiled: one decorator for every room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

Kernel = Callable[..., Any]

KERNELS: list[Any] = []
"""All that were decorated so far."""


def kernel(function: Kernel) -> Kernel:
    """Compile without the GIL and with numpy's division rules, and cache on disk."""
    # Nothing but Python and other loops calls them: no wrapper for C, a tenth of the time to compile.
    options: dict[str, Any] = {"no_cfunc_wrapper": True}
    compiled: Kernel = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    KERNELS.append(compiled)
    return compiled


def _fetch(builder: Any, place: Any) -> None:
    """Ask for the cache line at ``place``: to be read, into every level of the cache, as data."""
    address, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [address, flag, flag, flag])
    call = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, kind, "llvm.prefetch.p0i8"
    )
    builder.call(call, [builder.bitcast(place, address), flag(0), flag(3), flag(1)])


@intrinsic
def _prefetch(_typing, table, row, column):  # type: ignore[no-untyped-def]  # noqa: ARG001  the types count
    """Inside a kernel: ask for the cache line of ``table[row, column]``, which will be read soon.

    A gather from a table larger than the caches waits for memory at each row, unless several are under way.
    """

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, signature.args[0], array, arguments[1:], wraparound=False
        )
        _fetch(builder, place)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp), generate


@intrinsic
def _prefetch_value(_typing, values, at):  # type: ignore[no-untyped-def]
    """The same for ``values[at]`` of an array without gaps; no harm where ``at`` is beyond its ends."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        _fetch(builder, builder.gep(array.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(values, at), generate


prefetch: Kernel = _prefetch
prefetch_value: Kernel = _prefetch_value
