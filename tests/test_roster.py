"""Who is in the class: rosters as teachers keep them and as Canvas and Moodle hand them out."""

from __future__ import annotations

import codecs
from dataclasses import fields

import pytest

from autograder.collected import Collected, Handed
from autograder.errors import UsageError
from autograder.roster import by_roster, read_roster

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,5,(read only)
"Doe, Jane",12345,u1,jdoe,A,,
"김, 민지",12346,u2,minji,A,,
"Roe, Rick",12347,u3,,A,,
"Student, Test",12399,,,A,,
"""

MOODLE = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade"
"Participant 1234567","Kim Minji",minji@example.org,"Submitted",,5.00
"Participant 1234568","Lee, Jiho",jiho@example.org,"No submission",,5.00
"""


@pytest.fixture
def roster(tmp_path):
    """Read a roster with some content; the students' names."""

    def read(content):
        path = tmp_path / "roster.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_roster(path)

    return read


def students(people):
    return [person.student for person in people]


def collected(*handed):
    return Collected({one.student: one for one in handed})


def test_a_column_of_students_is_enough(roster):
    assert students(roster("student\nkim\nlee\n")) == ["kim", "lee"]
    assert students(roster("name,Student\nKim Minji,kim\n,\n")) == ["kim"]


def test_a_gradebook_of_canvas_is_read_without_its_rows_that_are_nobody(roster):
    assert students(roster(CANVAS)) == ["jdoe", "minji", "12347"]


def test_a_grading_worksheet_of_moodle_is_read(roster):
    assert students(roster(MOODLE)) == ["minji@example.org", "jiho@example.org"]
    assert students(roster("Identifier,Full name,Status\nParticipant 7,Kim,\n")) == ["Kim_7"]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("cp949"),
        lambda text: text.replace(",", ";").encode(),
        lambda text: text.replace(",", "\t").encode("utf-16"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: ("sep=;\n" + text.replace(",", ";")).encode(),
        lambda text: codecs.BOM_UTF8 + ('"sep=,"\r\n' + text.replace("\n", "\r\n")).encode(),
        lambda text: ("SEP=|\r\n" + text.replace(",", "|").replace("\n", "\r\n")).encode("utf-16"),
    ],
    ids=[
        "utf-8",
        "utf-8 with a mark",
        "utf-16",
        "utf-16 big-endian",
        "cp949",
        "semicolons",
        "tabs",
        "crlf",
        "sep=;",
        "sep=, quoted",
        "sep=|",
    ],
)
def test_a_roster_is_read_however_it_was_saved(roster, encode):
    assert students(roster(encode("student,name\n김민지,김 민지\nlee,이 지호\n"))) == ["김민지", "lee"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "needs a column 'student'"),
        ("name,grade\nkim,1\n", "needs a column 'student'. Found: name, grade"),
        ("student\n", "names nobody"),
        ("student\nkim\nlee\nkim\n", "twice: kim"),
        (b"\xff\xfe\x00", "encoding"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused_in_a_sentence(roster, content, words):
    with pytest.raises(UsageError, match=words):
        roster(content)


def test_who_handed_in_nothing_is_there_with_nothing(roster):
    sorted_out = by_roster(collected(Handed("kim", ("kim",))), roster("student\nkim\nlee\n"))
    assert list(sorted_out.students) == ["kim", "lee"]
    assert sorted_out.students["lee"].files == ()
    assert sorted_out.notices == ()


def test_who_is_not_on_the_roster_is_said_and_kept(roster):
    sorted_out = by_roster(collected(Handed("kim", ("kim",)), Handed("park", ("park",))), roster("student\nkim\n"))
    assert list(sorted_out.students) == ["kim", "park"]
    (notice,) = sorted_out.notices
    assert notice.endswith("park")


@pytest.mark.parametrize(
    ("table", "keys", "student"),
    [
        (CANVAS, ("12345",), "jdoe"),
        (CANVAS, ("Jane Doe",), "jdoe"),
        (CANVAS, ("jdoe",), "jdoe"),
        (MOODLE, ("1234567", "Kim Minji"), "minji@example.org"),
        (MOODLE, ("999", "kim  minji"), "minji@example.org"),
        (MOODLE, ("jiho",), "jiho@example.org"),
        (MOODLE, ("Jiho Lee",), "jiho@example.org"),
        ("student,canvas id\nkim,12345\n", ("12345",), "kim"),
        ("student,name\nkim,김민지\n", ("\u1100\u1175\u11b7\u1106\u1175\u11ab\u110c\u1175",), "kim"),
    ],
)
def test_students_are_known_by_any_id_or_name(roster, table, keys, student):
    sorted_out = by_roster(collected(Handed("folder", keys)), roster(table))
    assert "folder" not in sorted_out.students
    assert student in sorted_out.students
    assert sorted_out.notices == ()


def test_a_name_that_two_students_bear_names_neither(roster):
    people = roster("student,name\nkim1,Kim Minji\nkim2,Kim Minji\n")
    sorted_out = by_roster(collected(Handed("Kim Minji", ("Kim Minji",))), people)
    assert set(sorted_out.students) == {"kim1", "kim2", "Kim Minji"}
    assert "Kim Minji" in sorted_out.notices[0]


def test_capitals_count_where_they_tell_students_apart(roster):
    people = roster("student\nKim\nkim\nLee\n")
    sorted_out = by_roster(collected(*(Handed(name, (name,)) for name in ("Kim", "kim", "lee"))), people)
    assert list(sorted_out.students) == ["Kim", "Lee", "kim"]
    assert sorted_out.notices == ()
    unclear = by_roster(collected(Handed("KIM", ("KIM",))), people)
    assert "KIM" in unclear.notices[0]


def test_a_column_that_names_nobody_is_no_id(roster):
    sorted_out = by_roster(collected(Handed("A", ("A",))), roster("student,section\nkim,A\n"))
    assert "A" in sorted_out.students


def test_what_came_twice_under_two_names_is_one_students(roster):
    one, other = Handed("kim", ("kim",), flags=("one",)), Handed("Kim Minji_7", ("7",), flags=("other",))
    sorted_out = by_roster(collected(one, other), roster("student,id\nkim,7\n"))
    assert sorted_out.students["kim"].flags == ("one", "other")
    assert list(sorted_out.students) == ["kim"]


def test_nothing_of_what_came_twice_is_lost(roster):
    """Every field of what a student handed in, those that come later too."""
    several = [field.name for field in fields(Handed) if field.name not in ("student", "keys")]
    one, other = (Handed(name, keys, **dict.fromkeys(several, (name,))) for name, keys in (("kim", ()), ("7", ("7",))))
    joined = by_roster(collected(one, other), roster("student,id\nkim,7\n")).students["kim"]
    assert {name: getattr(joined, name) for name in several} == dict.fromkeys(several, ("kim", "7"))
