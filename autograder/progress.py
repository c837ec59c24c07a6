"""How far a long run has come: one moving line on a terminal, a plain line now and then elsewhere.

By hand, because plain lines for logs are half of it, and tqdm (the usual library) draws bars alone.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from autograder.plaintext import one_line
from autograder.words import say

EVERY = 10.0  # seconds between two plain lines
REDRAW = 0.1  # seconds between two drawings on a terminal


class Progress:
    """Counts `total` steps on `stream`.

    `with Progress(300) as progress:` and `progress.step("kim 03_scores")` after each. The estimate
    takes the steps to come to be as long as those done; `progress.skip(n)` counts steps that took no
    time (found in the journal), so that they do not make it too rosy.
    """

    def __init__(
        self, total: int, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.done = 0
        self._stream = sys.stderr if stream is None else stream
        self._moving = self._stream.isatty()
        self._clock = clock
        self._worked = 0
        self._drawn = float("-inf")

    def __enter__(self) -> Progress:
        self._began = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.done:
            self._line(say("progress.end", done=self.done, total=self.total, time=_time(self._clock() - self._began)))
        elif self._moving:
            self._write("\r\x1b[K")

    def step(self, text: str) -> None:
        """One more is done; `text` says which."""
        self.done += 1
        self._worked += 1
        self._show(text)

    def skip(self, count: int = 1) -> None:
        """`count` more needed no work."""
        self.done += count

    def note(self, text: str) -> None:
        """A line that stays, above the moving one."""
        self._line(one_line(text))

    def _show(self, text: str) -> None:
        now = self._clock()
        if now - self._drawn < (REDRAW if self._moving else EVERY):
            return
        self._drawn = now
        line = say(
            "progress.line",
            done=self.done,
            total=self.total,
            share=100 * self.done // max(self.total, self.done),
            left=self._left(now),
            text=one_line(text),
        )
        if self._moving:
            self._write("\r\x1b[K" + _fit(line, shutil.get_terminal_size().columns - 1))
        else:
            self._line(line)

    def _left(self, now: float) -> str:
        elapsed = now - self._began
        if self._worked < 2 or elapsed <= 0:
            return say("progress.begin")
        rest = max(self.total - self.done, 0)
        return say("progress.left", time=_time(elapsed / self._worked * rest))

    def _line(self, line: str) -> None:
        self._write(f"\r\x1b[K{line}\n" if self._moving else f"{line}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads along any more (`2>&1 | head`): no reason to stop grading
            try:
                self._stream.write(text)
            except UnicodeEncodeError:  # a terminal or log that knows ASCII alone
                self._stream.write(text.encode("ascii", "replace").decode())
            self._stream.flush()


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return say("progress.hours", hours=hours, minutes=minutes_left)
    if minutes:
        return say("progress.minutes", minutes=minutes, seconds=rest)
    return say("progress.seconds", seconds=rest)


def _fit(line: str, columns: int) -> str:
    """As much of the line as `columns` hold: a Hangul syllable takes two."""
    width = 0
    for place, character in enumerate(line):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > columns:
            return line[:place]
    return line
