"""A learner's code as Python reads it: read once, because reading some code takes seconds.

Python 3.11 takes a time that grows with the square of an f-string's length.
"""

from __future__ import annotations

import ast
import functools


@functools.lru_cache(maxsize=32)  # a notebook's answers, each of which is asked for several times
def parsed(source: str) -> ast.Module | None:
    """The syntax of some code; None where it is not Python. Not to be changed: it is shared."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
