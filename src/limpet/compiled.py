"""How the functions that only kernels call are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import register_jitable


def inner(**options: Any) -> Callable[[Callable], Callable]:
    """Decorate a function that only kernels call; plain Python elsewhere. Options as of `njit`.

    `njit` would also compile the code that unpacks Python objects into its arguments. With records
    of twenty arrays that is a third of the time that a kernel takes to compile. And it would
    compile the function again for each constant that it is called with.
    """
    return register_jitable(cache=True, no_cfunc_wrapper=True, **options)
