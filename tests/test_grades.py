"""grades.csv says exactly what was found, to a program and to a spreadsheet."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from made_up_class import CHAPTER, HOSTILE, TASKS, make_class, make_exercise, student_names

from autograder.errors import UsageError
from autograder.grades import COLUMNS, MARK_COLUMNS, read_grades, write_grades
from autograder.marks import HandGrade, Marks
from autograder.plaintext import identifier
from autograder.policy import Late, Policy
from autograder.results import SubmissionResult

RUNS_IN_A_SPREADSHEET = ("=", "+", "-", "@", " =", "＝", "＋", "－", "＠", "|")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grades.csv"


def cells(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def one(student="kim", **fields):
    exercise = make_exercise(student, TASKS[0], fields.pop("status", "failed"))
    return SubmissionResult(student, CHAPTER, (replace(exercise, **fields),))


def test_the_first_line_is_the_agreed_columns(path):
    write_grades(path, [])
    assert path.read_text() == "student,assignment,notebook,exercise,score,max_score,status,message\n"


def test_there_is_one_row_for_each_student_assignment_and_exercise(path):
    results = make_class(24)
    write_grades(path, [*results, *results])
    rows = [(row["student"], row["assignment"], row["exercise"]) for row in cells(path)]
    assert len(rows) == 24 * len(TASKS)
    assert len(set(rows)) == len(rows)


def test_the_order_of_the_results_does_not_change_a_byte(path):
    results = make_class(24, hostile=True)
    write_grades(path, results)
    first = path.read_bytes()
    write_grades(path, reversed(results))
    assert path.read_bytes() == first


def test_rows_are_sorted(path):
    write_grades(path, make_class(24))
    rows = [(row["student"], row["assignment"], row["notebook"], row["exercise"]) for row in cells(path)]
    assert rows == sorted(rows)


@pytest.mark.parametrize(
    ("score", "written"),
    [(3.0, "3"), (0.0, "0"), (-0.0, "0"), (2.5, "2.5"), (0.1 + 0.2, "0.3"), (1 / 6, "0.166666666666667")],
)
def test_points_are_written_without_noise(path, score, written):
    write_grades(path, [one(score=score)])
    assert cells(path)[0]["score"] == written


def test_sixths_read_back_still_sum_to_the_whole(path):
    results = [one(student=f"s{n}", score=5 / 6) for n in range(6)]
    write_grades(path, results)
    assert sum(row.score for row in read_grades(path)) == pytest.approx(5.0, abs=1e-13)  # six numbers of 15 digits


def test_ungraded_is_an_empty_cell_and_never_a_zero(path):
    write_grades(path, make_class(1, ungraded=1))
    assert {row["score"] for row in cells(path)} == {""}
    assert {row.score for row in read_grades(path)} == {None}


@pytest.mark.parametrize("start", RUNS_IN_A_SPREADSHEET)
@pytest.mark.parametrize("quotes", ["", "'", "''"])
def test_no_text_cell_starts_as_a_formula_and_reading_gives_it_back(path, start, quotes):
    text = f"{quotes}{start}HYPERLINK(1)"
    write_grades(path, [one(student=text, message=f"{quotes}=1+1")])
    (row,) = cells(path)
    assert row["student"].startswith("'" + quotes)
    assert row["message"] == f"'{quotes}=1+1"
    assert read_grades(path)[0].student == identifier(text)
    assert read_grades(path)[0].message == f"{quotes}=1+1"


@pytest.mark.parametrize("start", ["\t", "\r", "\n", "\x00"])
def test_a_control_character_in_a_name_is_spelled_out(path, start):
    write_grades(path, [one(student=f"{start}=1+1")])
    assert cells(path)[0]["student"].startswith("\\")


@pytest.mark.parametrize("name", ["'t Hooft", 'O\'Neil, "Ada"', "김민지", "ann [2]", "20231234", "a-b", "x=1"])
def test_an_ordinary_name_stands_there_as_it_is(path, name):
    write_grades(path, [one(student=name)])
    assert cells(path)[0]["student"] == name


def test_hostile_names_read_back_and_stay_apart(path):
    results = make_class(len(HOSTILE), hostile=True)
    write_grades(path, results)
    assert {row.student for row in read_grades(path)} == {identifier(name) for name in HOSTILE}


def test_a_message_is_one_line_without_control_characters(path):
    write_grades(path, [one(message="first\r\nsecond\x1b[31m red\x00\x07 \ud800 end\u2028x")])
    assert cells(path)[0]["message"] == "first second red \ufffd end\ufffdx"
    assert path.read_bytes().count(b"\n") == 2


def test_a_megabyte_of_message_is_cut(path):
    write_grades(path, [one(message="x" * 1_000_000)])
    assert len(cells(path)[0]["message"]) == 2_000


def test_an_error_while_writing_leaves_the_old_file(path, monkeypatch):
    write_grades(path, make_class(3))
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_grades(path, make_class(4))
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_that_a_spreadsheet_saved_with_a_mark_is_read(path):
    write_grades(path, make_class(2))
    rows = read_grades(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_grades(path) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "does not start with the columns"),
        ("name,grade\nkim,3\n", "does not start with the columns"),
        (",".join(COLUMNS) + "\nkim,03_scores,scores,softmax,three,4,passed,\n", "line 2"),
        (",".join(COLUMNS) + "\nkim,03_scores,scores,softmax,3,4,wonderful,\n", "line 2"),
        (",".join(COLUMNS) + "\nkim,03_scores\n", "line 2"),
        (",".join(COLUMNS) + "\nkim,03_scores,scores,softmax,3,4,passed,,,\n", "line 2"),
        (",".join(COLUMNS) + '\nkim,"03_scores,scores\n' + "lee,03_scores,scores\n" * 10_000, "not a row"),
        ('"' + "student,assignment\n" * 10_000, "not a row"),
    ],
)
def test_a_file_that_is_no_grades_file_is_refused_with_the_place(path, content, message):
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_grades(path)


def test_a_missing_file_says_what_to_run(path):
    with pytest.raises(UsageError, match="autograder grade"):
        read_grades(path)


def test_marks_that_can_change_the_points_add_columns_that_read_back(path):
    result = one(score=2.0)
    exercise = result.exercises[0]
    by_hand = {exercise.checks[0].check: HandGrade(1.0), exercise.exercise: HandGrade(comment="=2+2")}
    time = datetime(2026, 10, 6, 9, 0, tzinfo=UTC)
    late = {(result.student, CHAPTER): Late(handed_in=time, percent=50.0)}
    write_grades(path, [result], Marks(Policy(), late, {(result.student, CHAPTER): by_hand}))
    assert tuple(cells(path)[0]) == COLUMNS + MARK_COLUMNS
    assert cells(path)[0]["comment"] == "'=2+2"
    (row,) = read_grades(path)
    assert (row.score, row.manual_score, row.final_score, row.late_percent) == (2.0, 1.0, 0.5, 50.0)
    assert (row.submitted, row.comment) == ("2026-10-06T09:00:00+00:00", "=2+2")


def test_without_them_the_final_score_is_the_score(path):
    write_grades(path, [one(score=2.0)], Marks())
    assert tuple(cells(path)[0]) == COLUMNS
    assert read_grades(path)[0].final_score == 2.0


def test_the_file_has_no_byte_order_mark_so_that_every_program_knows_its_first_column(path):
    write_grades(path, [one("김민지")])
    assert path.read_bytes().startswith(b"student,")


def test_twenty_thousand_rows_take_seconds(path):
    names = student_names(2_900)
    results = [replace(result, student=name) for name, result in zip(names, make_class(100) * 29, strict=True)]
    write_grades(path, results)
    assert len(read_grades(path)) == 2_900 * len(TASKS) > 20_000
