"""Work in processes that may crash or hang."""

from __future__ import annotations

import os
import signal
from time import sleep

from limpet.studies.parallel import Died, outliving


def square(n: int) -> int:
    if n == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if n == 5:
        sleep(60.0)
    if n == 7:
        raise ValueError(n)
    return n * n


def test_each_is_done_whatever_becomes_of_its_process() -> None:
    found = dict(outliving(square, [(n,) for n in range(9)], jobs=2, limit=5.0))
    died = {key: value.how for key, value in found.items() if isinstance(value, Died)}
    assert died == {
        (3,): "ended by signal 11", (5,): "killed after 5 s", (7,): "ended by status 1",
    }  # fmt: skip
    assert {k: v for k, v in found.items() if k not in died} == {
        (n,): n * n for n in (0, 1, 2, 4, 6, 8)
    }


def test_nothing_to_do() -> None:
    assert list(outliving(square, [], jobs=2, limit=1.0)) == []
