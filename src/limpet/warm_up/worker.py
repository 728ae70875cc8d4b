"""Compiles the kernels whose names it reads, one a line, and answers each with a line."""

from __future__ import annotations

import sys
from contextlib import suppress

from limpet.warm_up.kernels import compile_now


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name = line.strip()
        try:
            compile_now(name)
        except Exception as error:  # the kernel is compiled when it is needed
            print(f"{name}: {error}", file=sys.stderr)
        print(name, file=answers, flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):  # who asked has stopped
        main()
