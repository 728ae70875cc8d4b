"""How kernels are compiled and kept, and what to write in them in place of slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit as njit
from numba.extending import register_jitable

from limpet.kernel_cache import install

Array = np.ndarray

install()


def inner(**options: Any) -> Callable[[Callable], Callable]:
    """Decorate a function that only kernels call; plain Python elsewhere. Options as of `njit`.

    `njit` would also compile the code that unpacks Python objects into its arguments. With records
    of twenty arrays that is a third of the time that a kernel takes to compile. And it would
    compile the function again for each constant that it is called with.
    """
    return register_jitable(cache=True, no_cfunc_wrapper=True, **options)


# A kernel that assigns to a slice, or a row, contains the check of the shapes and the code that
# writes the message: seconds to compile, also for those that call it.


@inner()
def copy(source: Array, target: Array) -> None:
    """target[: len(source)] = source, for arrays of one dimension."""
    for i in range(len(source)):
        target[i] = source[i]


@inner()
def copy_rows(source: Array, target: Array, first: int) -> None:
    """target[first : first + len(source)] = source, for arrays of two dimensions."""
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[first + i, k] = source[i, k]
