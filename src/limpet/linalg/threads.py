"""Threads that share the work of one step: kernels that release the GIL, on parts of the data.

The parts never depend on the number of threads, nor does the order in which their results are
added, so a simulation has the same bits with any number. A region (all tasks of one `run`) costs
20 us to start and to end; a task should last 50 us or more.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


class Threads:
    """Runs tasks on `count` threads, of which the caller's is one.

    The others are started by the first region that needs them, and anew in a process that was
    forked: it has inherited the pool, but none of its threads.
    """

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0  # that has started the pool

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """What the tasks return, in their order; they must write to different places."""
        if self.count == 1 or len(tasks) < 2:
            return [task() for task in tasks]
        left = deque(enumerate(tasks))
        done: dict[int, Result] = {}

        def work() -> None:
            while left:
                try:
                    number, task = left.popleft()
                except IndexError:  # another thread was faster
                    return
                done[number] = task()

        helpers = [self._started().submit(work) for _ in range(min(self.count, len(tasks)) - 1)]
        try:
            work()
        finally:
            for helper in helpers:
                if not helper.cancel():  # one that has not begun is not waited for
                    helper.result()
        return [done[number] for number in range(len(tasks))]

    def _started(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.count - 1, thread_name_prefix="limpet")
            self._process = os.getpid()
        return self._pool

    def __getstate__(self) -> int:
        return self.count

    def __setstate__(self, count: int) -> None:
        self.__init__(count)  # type: ignore[misc]


ALONE = Threads()
