"""Python's garbage collector, where it is in the way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collecting() -> Iterator[None]:
    """For imports: they leave no garbage, and to look for some takes a quarter of their time.

    What is there afterwards is never looked at again: forks share its pages as long as nobody touches them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
