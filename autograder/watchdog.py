"""Keeps an eye on the time that a learner's process takes."""

from __future__ import annotations

import _thread
import contextlib
import threading
import time
from collections.abc import Callable, Iterator


class Watchdog:
    """One thread that looks now and then whether what is watched has taken too long, and then calls `bite`.

    Looking is cheaper than a timer for each of the many calls; it may bite a moment late. What the main
    thread computes in `interruptible` is interrupted as well, by a KeyboardInterrupt.
    """

    LOOKS = 0.1  # seconds between two

    def __init__(self, bite: Callable[[], None]) -> None:
        self.watched: tuple[float, str, float] | None = None  # until when, what, how many seconds it may take
        self.expired: tuple[str, float] | None = None  # what took longer than how many seconds
        self._bite = bite
        self._computing = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """There is nothing to watch any more; afterwards it does not bite."""
        self._ended.set()
        self._thread.join()

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """What the main thread computes within is interrupted, too, when the time is up."""
        self._computing = True
        try:
            yield
        finally:
            self._computing = False

    def _look(self) -> None:
        while not self._ended.wait(self.LOOKS):
            watched = self.watched
            if watched and time.monotonic() > watched[0]:
                self.expired = watched[1:]
                self._bite()
                if self._computing:
                    _thread.interrupt_main()
                return
