"""Progress moves on a terminal, speaks now and then in a log, and never stops the run."""

from __future__ import annotations

import io

import pytest

from autograder.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(stream, steps, seconds, total=None, text="kim 03_scores", skip=0):
    clock = Clock()
    with Progress(total or steps, stream, clock=clock) as progress:
        progress.skip(skip)
        for _ in range(steps):
            clock.now += seconds
            progress.step(text)
    return stream.getvalue()


def test_a_log_gets_whole_lines_and_no_escape_sequences():
    written = run(io.StringIO(), steps=300, seconds=0.5)
    assert "\r" not in written
    assert "\x1b" not in written
    assert written.endswith("300 of 300 in 2 min 30 s\n")


def test_a_log_hears_every_ten_seconds_and_not_every_step():
    lines = run(io.StringIO(), steps=300, seconds=0.5).splitlines()
    assert len(lines) == 1 + 150 // 10


def test_a_terminal_line_is_drawn_over_and_ends_with_the_total():
    written = run(Terminal(), steps=3, seconds=1)
    assert written.count("\r\x1b[K") == 4
    assert written.endswith("3 of 3 in 3 s\n")
    assert written.count("\n") == 1


def test_the_estimate_is_the_mean_step_times_what_is_left():
    assert "(50 %), about 20 s left" in run(Terminal(), steps=10, seconds=2, total=20)


def test_skipped_steps_do_not_make_the_estimate_rosy():
    assert "12 of 20 (60 %), about 16 s left" in run(Terminal(), steps=2, seconds=2, total=20, skip=10)


@pytest.mark.parametrize(("seconds", "text"), [(4000, "1 h 06 min left"), (100, "1 min 40 s left")])
def test_long_estimates_are_told_in_minutes_and_hours(seconds, text):
    assert text in run(Terminal(), steps=2, seconds=seconds, total=3)


def test_a_name_can_neither_colour_nor_break_the_line():
    written = run(io.StringIO(), steps=1, seconds=1, text="\x1b[31mkim\x1b[0m\n\x07park")
    assert "kim park\n" in written
    assert "\x1b" not in written


def test_a_line_of_wide_syllables_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    drawn = run(Terminal(), steps=1, seconds=1, text="김민지" * 100).split("\r\x1b[K")[1]
    assert 0 < len(drawn) < 60
    assert len(drawn) + drawn.count("김") + drawn.count("민") + drawn.count("지") <= 59


def test_a_stream_that_knows_ascii_alone_gets_question_marks():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with Progress(1, stream) as progress:
        progress.step("김민지")
    stream.seek(0)
    assert "???" in stream.read()


def test_a_reader_that_went_away_does_not_stop_the_run():
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with Progress(1, Closed()) as progress:
        progress.step("kim")
    assert progress.done == 1


def test_an_error_inside_is_not_hidden():
    with pytest.raises(ZeroDivisionError), Progress(1, io.StringIO()):
        raise ZeroDivisionError


def test_more_steps_than_expected_do_no_harm():
    assert "3 of 2 (100 %)" in run(Terminal(), steps=3, seconds=1, total=2)


def test_a_note_stands_on_its_own_line():
    clock, stream = Clock(), Terminal()
    with Progress(2, stream, clock=clock) as progress:
        progress.step("kim")
        progress.note("graded again")
    assert "\r\x1b[Kgraded again\n" in stream.getvalue()
