"""Mutations of bytes: of any content, of its words, of its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
NASTY_NUMBERS = (
    b"0", b"-1", b"1e400", b"-1e308", b"1e-320", b"nan", b"inf", b"-inf", b"1" * 400, b"9" * 5000,
    b"2147483648", b"-9223372036854775809", b"1e30", b"0x10", b"1_000", b"1.2.3", b"", b"1e",
    b"99999999", b"0.1", b"1000", b"3.5",
)  # fmt: skip
NASTY_WORDS = (
    b"\0", b"\n", b"\r\n", b'"', b"'", b"[", b"]", b"{", b"}", b"#", b"\\", b"\xff\xfe", b"[" * 900,
    b"=", b"mm", b"kg", b"true", b"null", "µ³°".encode(), b"..", b"/", b"/dev/null", b"a" * 5000,
    b"include", b"end_header", b"element", b"vertex", b"face", b"list", b"format", b"\t", b" ",
    b"1979-05-27", b"{a=1}", b"\x1b[31m", b"%s", b"$",
)  # fmt: skip
LONGEST = 200_000  # [byte] of an input

Mutation = Callable[[bytes, np.random.Generator], bytes]


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """One mutation in half of the cases, else up to four: one leaves more of the rest sound."""
    for _ in range(max(1, int(rng.integers(-2, 5)))):
        content = MUTATIONS[int(rng.integers(len(MUTATIONS)))](content, rng)[:LONGEST]
    return content


def _span(content: bytes, rng: np.random.Generator, longest: int = 64) -> tuple[int, int]:
    begin = int(rng.integers(len(content) + 1))
    return begin, min(len(content), begin + int(rng.integers(longest)))


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if data:
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: _span(content, rng)[0]]


def _remove(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(content, rng)
    return content[:a] + content[b:]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(content, rng)
    return content[:b] + content[a:b] * int(rng.integers(1, 40)) + content[b:]


def _noise(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(content, rng, 16)
    return content[:a] + rng.bytes(b - a) + content[b:]


def _insert(content: bytes, rng: np.random.Generator) -> bytes:
    a, _ = _span(content, rng)
    return content[:a] + NASTY_WORDS[int(rng.integers(len(NASTY_WORDS)))] + content[a:]


def _number(content: bytes, rng: np.random.Generator) -> bytes:
    """Another number in the place of one."""
    places = [m.span() for m in NUMBER.finditer(content)]
    if not places:
        return content
    # Half of the time one of the first: those of a header count for more than coordinates do.
    few = places[:6] if rng.random() < 0.5 else places
    a, b = few[int(rng.integers(len(few)))]
    return content[:a] + NASTY_NUMBERS[int(rng.integers(len(NASTY_NUMBERS)))] + content[b:]


def _swap_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    i, j = rng.integers(len(lines), size=2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _swap_words(content: bytes, rng: np.random.Generator) -> bytes:
    words = content.split(b" ")
    i, j = rng.integers(len(words), size=2)
    words[i], words[j] = words[j], words[i]
    return b" ".join(words)


MUTATIONS: tuple[Mutation, ...] = (
    _flip, _cut, _remove, _repeat, _noise, _insert, _number, _number, _swap_lines, _swap_words,
)  # fmt: skip
