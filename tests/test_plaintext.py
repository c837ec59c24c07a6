"""Text that strangers wrote can neither command a terminal nor hide its neighbours."""

from __future__ import annotations

import itertools
import time

import pytest

from autograder.plaintext import identifier, one_line, plain, points


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]8;;http://example.org\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;a title that never ends\nnext line", "0;a title that never ends\nnext line"),
        ("bell\x07 null\x00 delete\x7f c1\x9b31m", "bell null delete c131m"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("tab\tstays", "tab\tstays"),
        ("turned\u202eround \ud800", "turned\ufffdround \ufffd"),
        ("한글 √d é 👩\u200d🔬", "한글 √d é 👩\u200d🔬"),
    ],
)
def test_only_what_can_be_read_is_left(text, left):
    assert plain(text) == left


@pytest.mark.parametrize("piece", ["\x1b]", "\x1b[", "\x1b[0", "\r", " "])
def test_a_megabyte_of_escapes_takes_no_time(piece):
    started = time.monotonic()
    one_line(piece * (1_000_000 // len(piece)), 100)
    assert time.monotonic() - started < 5  # about 0.2 on a quiet machine


def test_one_line_is_one_line_of_the_length_it_may_have():
    assert one_line(" a\n\tb ", 3) == "a b"
    assert one_line("abcdef", 3) == "ab…"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("a\x00b", "ab"), ("a\nb", "a b"), ("a\udc80", "a\udc81"), ("a", "a\u202e"), ("a\x01", r"a\x01")),
        *(("a\tb", r"a\tb"), ("\udc80", r"\udc80"), (r"\x01", r"\x5cx01"), ("\\\x01", r"\\x01")),
    ],
)
def test_two_ids_never_become_one(first, second):
    assert identifier(first) != identifier(second)
    assert identifier(first).isprintable()


def test_no_two_of_many_odd_ids_become_one():
    ids = ["".join(letters) for length in range(6) for letters in itertools.product("\\x05c\x05", repeat=length)]
    assert len(set(map(identifier, ids))) == len(ids)


@pytest.mark.parametrize("usual", ["20231234", "Kim Minji_1234567", "이름, 학생", r"DOMAIN\kim", r"uni\tom", "=1+1"])
def test_a_usual_id_stays_as_it_is(usual):
    assert identifier(usual) == usual


@pytest.mark.parametrize(("value", "written"), [(3.0, "3"), (2.5, "2.5"), (5 / 6, "0.83"), (10.0, "10"), (-0.0, "0")])
def test_points_are_written_as_people_write_them(value, written):
    assert points(value) == written
