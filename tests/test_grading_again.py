"""Grading again: what was given stays given, until a teacher says otherwise."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from made_up import handed_in, make_course

from autograder import grade as grading
from autograder.__main__ import main
from autograder.journal import Journal
from autograder.regrade import keep_what_stands

RIGHT = {"double": "def double(x):\n    return x + x", "quadruple": "def quadruple(x):\n    return 4 * x"}
SQUARED = {"double": "def double(x):\n    return x * x"}
WHOLE = {"double": "def double(x):\n    return 2 * np.floor(x)", "quadruple": RIGHT["quadruple"]}
POLICY = 'zone = "Asia/Seoul"\n[late]\npercent_per_day = 10\n[chapters.01_numbers]\ndue = {due}\n'


@pytest.fixture
def course(tmp_path, monkeypatch, sandbox):
    """A released course of two chapters, and the current folder in it."""
    make_course(tmp_path)
    shutil.copytree(tmp_path / "solutions" / "01_numbers", tmp_path / "solutions" / "02_more")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hand_in(course, student, chapter="01_numbers", time="", **answers):
    path = course / "class" / student / chapter / "numbers.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(handed_in(**answers))
    if time:
        (path.parent / "timestamp.txt").write_text(time)


def grade(*arguments):
    return main(["grade", "class", "--jobs", "1", *arguments])


def rows(course, name="grades.csv"):
    with (course / "graded" / name).open(encoding="utf-8", newline="") as file:
        return {(row["student"], row["assignment"], row["exercise"]): row for row in csv.DictReader(file)}


def change_source(course, old, new, chapter="01_numbers"):
    path = course / "solutions" / chapter / "numbers.ipynb"
    text = path.read_text("utf-8")
    assert json.dumps(old)[1:-1] in text
    path.write_text(text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1]), encoding="utf-8")


def accept_whole_numbers_only(course):
    """The hidden test of `double` asks for less than before."""
    change_source(course, "[[123.25, -7.5, 3.0]]", "[[123.0, -7.0, 3.0]]")
    change_source(course, "[[246.5, -15.0, 6.0]]", "[[246.0, -14.0, 6.0]]")


def nothing_to_grade(job, submissions, *rest):
    assert not list(submissions)
    return []


def penalties(course):
    with sqlite3.connect(course / "graded" / "gradebook.db") as database:
        return database.execute("SELECT late_submission_penalty FROM submitted_notebook").fetchall()


def cells_in_gradebook(folder):
    with sqlite3.connect(folder / "gradebook.db") as database:
        return database.execute(
            "SELECT base_cell.name, grade.auto_score FROM base_cell LEFT JOIN grade ON grade.cell_id = base_cell.id"
            " ORDER BY base_cell.name, base_cell.type"
        ).fetchall()


# One chapter after the other


def test_a_chapter_graded_alone_leaves_the_others_where_they_were(course, capsys):
    hand_in(course, "kim", **RIGHT)
    hand_in(course, "kim", "02_more", **SQUARED)
    grade()
    before = {name: (course / "graded" / name).read_bytes() for name in ("grades.csv", "report.html")}
    capsys.readouterr()
    assert grade("--assignment", "01_numbers") == 0
    assert "Graded before and kept: 02_more" in capsys.readouterr().out
    for name, content in before.items():
        assert (course / "graded" / name).read_bytes() == content, name


def test_a_chapter_that_is_graded_later_joins_the_earlier_one(course):
    hand_in(course, "kim", **RIGHT)
    grade("--assignment", "01_numbers")
    hand_in(course, "kim", "02_more", **SQUARED)
    grade("--assignment", "02_more")
    assert {chapter for _, chapter, _ in rows(course)} == {"01_numbers", "02_more"}
    report = (course / "graded" / "report.html").read_text("utf-8")
    assert "Chapter 1" in report
    assert "Chapter 2" in report


def test_a_lost_gradebook_is_made_again_with_the_chapters_that_are_not_graded_now(course):
    hand_in(course, "kim", **RIGHT)
    hand_in(course, "kim", "02_more", **RIGHT)
    grade()
    (course / "graded" / "gradebook.db").unlink()
    grade("--assignment", "01_numbers")
    with sqlite3.connect(course / "graded" / "gradebook.db") as database:
        assert database.execute("SELECT count(*) FROM submitted_assignment").fetchone() == (2,)


def test_a_chapter_named_twice_is_graded_once(course, capsys):
    hand_in(course, "kim", **RIGHT)
    grade("--assignment", "01_numbers", "01_numbers")
    out = capsys.readouterr().out
    assert "1 submissions graded" in out
    assert "not among these" not in out


def test_who_is_not_among_the_submissions_any_more_is_counted(course, capsys):
    hand_in(course, "kim", **RIGHT)
    hand_in(course, "lee", **RIGHT)
    grade()
    shutil.rmtree(course / "class" / "lee")
    capsys.readouterr()
    grade()
    assert "One submission graded before" in capsys.readouterr().out
    assert {student for student, _, _ in rows(course)} == {"kim"}


def test_an_older_submission_that_is_handed_in_once_more_counts_again(course):
    hand_in(course, "kim", **RIGHT)
    grade()
    hand_in(course, "kim", **SQUARED)
    grade()
    hand_in(course, "kim", **RIGHT)
    grade()
    hand_in(course, "kim", "02_more", **RIGHT)
    grade("--assignment", "02_more")
    assert rows(course)["kim", "01_numbers", "double"]["status"] == "passed"


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_where_the_results_should_go_is_said_before_anything_is_graded(course, capsys, monkeypatch, out):
    monkeypatch.setattr("autograder.grade.list_work", lambda *_: pytest.fail("graded all the same"))
    hand_in(course, "kim", **RIGHT)
    (course / "file").write_text("not a folder")
    assert grade("--out", out) == 2
    message = capsys.readouterr().err
    assert "file" in message
    assert "kept" not in message
    assert (course / "file").read_text() == "not a folder"


# A journal that came to harm


def graded_twice(course, capsys):
    """Two students and two chapters, graded; the journal's lines."""
    for student in ("kim", "lee"):
        hand_in(course, student, **RIGHT)
        hand_in(course, student, "02_more", **RIGHT)
    grade()
    capsys.readouterr()
    return (course / "graded" / "journal.jsonl").read_text().splitlines()


def test_a_journal_that_is_none_is_set_aside_and_the_rows_that_go_with_it_are_kept(course, capsys):
    _, *lines = graded_twice(course, capsys)
    before = (course / "graded" / "grades.csv").read_bytes()
    (course / "graded" / "journal.jsonl").write_text("\n".join(["garbage", *lines, ""]))
    assert grade("--assignment", "01_numbers") == 0
    out = capsys.readouterr().out
    assert "journal.jsonl.old1" in out
    assert "held other points of 2 submissions of 02_more" in out
    (copy,) = (course / "graded").glob("grades-*.csv")
    assert copy.read_bytes() == before
    assert grade("--assignment", "01_numbers") == 0
    assert "held other points" not in capsys.readouterr().out


def test_lines_of_the_journal_that_cannot_be_read_are_said(course, capsys):
    lines = graded_twice(course, capsys)
    broken = [line.replace('"passed"', '"pased"') if '"lee"' in line else line for line in lines]
    (course / "graded" / "journal.jsonl").write_text("\n".join([*broken, ""]))
    assert grade("--assignment", "01_numbers") == 0
    out = capsys.readouterr().out
    assert "held 2 lines that could not be read" in out
    assert "held other points of one submission of 02_more" in out
    assert {student for student, chapter, _ in rows(course) if chapter == "01_numbers"} == {"kim", "lee"}


def test_regrade_also_shows_who_fell_out_of_the_journal(course, capsys):
    for student in ("kim", "lee"):
        hand_in(course, student, **WHOLE)
    grade()
    path = course / "graded" / "journal.jsonl"
    path.write_text(path.read_text().replace('"student":"lee"', '"student":5'))
    accept_whole_numbers_only(course)
    capsys.readouterr()
    assert grade("--regrade") == 1
    out = capsys.readouterr().out
    assert "double: 2 gain, 0 lose\n  kim: 0 → 2 (+2)\n  lee: 0 → 2 (+2)\n" in out
    assert "held a line that could not be read" in out
    assert grade("--regrade", "--yes") == 0
    assert "held other points" not in capsys.readouterr().out
    assert {row["score"] for key, row in rows(course).items() if key[2] == "double"} == {"2"}


def test_a_journal_that_is_removed_while_it_is_written_is_said(course, capsys, monkeypatch):
    hand_in(course, "kim", **RIGHT)
    in_workers = grading.in_workers

    def removed_meanwhile(*arguments):
        yield from in_workers(*arguments)
        shutil.rmtree(course / "graded")

    monkeypatch.setattr(grading, "in_workers", removed_meanwhile)
    assert grade() == 0
    assert "journal.jsonl was removed or replaced" in capsys.readouterr().out


# An assignment that changed


def test_a_changed_assignment_is_not_graded_again_by_the_way(course, capsys):
    hand_in(course, "kim", **WHOLE)
    grade()
    before = (course / "graded" / "grades.csv").read_bytes()
    accept_whole_numbers_only(course)
    assert grade() == 2
    message = capsys.readouterr().err
    assert "01_numbers" in message
    assert "--regrade" in message
    assert (course / "graded" / "grades.csv").read_bytes() == before


def test_a_text_that_changed_is_no_change_of_the_assignment(course):
    path = course / "solutions" / "01_numbers" / "numbers.ipynb"
    hand_in(course, "kim", **RIGHT)
    grade()
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"].insert(0, {"cell_type": "markdown", "id": "t", "metadata": {}, "source": "# A title"})
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert grade() == 0


def test_regrade_shows_who_gains_and_who_loses_and_writes_nothing(course, capsys):
    hand_in(course, "kim", **WHOLE)
    hand_in(course, "lee", **RIGHT)
    hand_in(course, "park", quadruple=RIGHT["quadruple"])
    grade()
    before = {path: path.read_bytes() for path in (course / "graded").rglob("*") if path.is_file()}
    accept_whole_numbers_only(course)
    path = course / "solutions" / "01_numbers" / "numbers.ipynb"
    path.write_text(path.read_text("utf-8").replace('"points": 3', '"points": 1'), encoding="utf-8")
    capsys.readouterr()
    assert grade("--regrade") == 1
    out = capsys.readouterr().out
    assert "01_numbers, double: 1 gain, 0 lose\n  kim: 0 → 2 (+2)\n" in out
    assert "01_numbers, quadruple: 0 gain, 3 lose\n  kim: 3 → 1 (−2)\n  lee: 3 → 1 (−2)\n" in out
    assert "0 learners gain points and 2 lose points" in out
    assert {path: path.read_bytes() for path in before} == before
    assert grade() == 2  # looking at it changed nothing


def test_regrade_with_yes_writes_and_keeps_what_stood_there(course, capsys):
    hand_in(course, "kim", **WHOLE)
    grade()
    before = (course / "graded" / "grades.csv").read_bytes()
    accept_whole_numbers_only(course)
    assert grade("--regrade", "--yes") == 0
    assert rows(course)["kim", "01_numbers", "double"]["score"] == "2"
    (kept,) = (course / "graded").glob("grades-*.csv")
    assert kept.read_bytes() == before
    assert len(list((course / "graded").glob("gradebook-*.db"))) == 1
    assert str(kept.name) in capsys.readouterr().out
    assert not (course / "graded" / "regrade.jsonl").exists()
    assert grade() == 0


def test_what_stood_there_is_kept_also_where_the_clock_shows_the_same_time_again(tmp_path):
    clock = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    copies = []
    for number, now in enumerate([clock, clock.replace(fold=1), clock, clock]):
        (tmp_path / "grades.csv").write_text(str(number))
        copies += keep_what_stands(tmp_path, now)
    assert [copy.read_text() for copy in copies] == ["0", "1", "2", "3"]
    assert copies[0].name == "grades-2026-10-25-003000Z.csv"


@pytest.mark.parametrize(("typed", "score"), [("yes", "2"), ("no", "0"), ("", "0")])
def test_regrade_asks_on_a_terminal(course, monkeypatch, typed, score):
    hand_in(course, "kim", **WHOLE)
    grade()
    accept_whole_numbers_only(course)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: typed)
    grade("--regrade")
    assert rows(course)["kim", "01_numbers", "double"]["score"] == score


def test_what_was_graded_for_a_look_is_not_graded_twice(course, monkeypatch, capsys):
    hand_in(course, "kim", **WHOLE)
    grade()
    accept_whole_numbers_only(course)
    grade("--regrade")
    monkeypatch.setattr("autograder.grade.in_workers", nothing_to_grade)
    assert grade("--regrade", "--yes") == 0


def test_a_source_that_is_set_back_does_not_set_the_marks_back_by_the_way(course):
    path = course / "solutions" / "01_numbers" / "numbers.ipynb"
    original = path.read_bytes()
    hand_in(course, "kim", **WHOLE)
    grade()
    accept_whole_numbers_only(course)
    grade("--regrade", "--yes")
    path.write_bytes(original)
    assert grade() == 2
    assert rows(course)["kim", "01_numbers", "double"]["score"] == "2"


def test_a_regrade_that_was_killed_while_it_was_written_goes_on(course, monkeypatch):
    hand_in(course, "kim", **WHOLE)
    hand_in(course, "lee", **WHOLE)
    grade()
    accept_whole_numbers_only(course)
    append = Journal.append

    def killed(journal, key, result):
        if journal.path.name == "journal.jsonl" and result.student == "lee":
            raise KeyboardInterrupt
        append(journal, key, result)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", killed)
        assert grade("--regrade", "--yes") == 130
    assert grade() == 2
    assert {row["score"] for key, row in rows(course).items() if key[2] == "double"} == {"0"}
    assert grade("--regrade", "--yes") == 0
    assert {row["score"] for key, row in rows(course).items() if key[2] == "double"} == {"2"}


def test_regrade_where_nothing_changed_is_an_ordinary_run(course):
    hand_in(course, "kim", **RIGHT)
    assert grade("--regrade") == 0
    assert grade("--regrade") == 0
    assert not list((course / "graded").glob("grades-*.csv"))


# A course that is edited while a class is graded


FILES = (("solutions", "numbers.ipynb"), ("exercises", "hints.json"))


def cut(path):
    """As an editor leaves a file that it is still writing."""
    path.write_bytes(path.read_bytes()[:-100])


def change(path, old, new):
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")


EDITS = {
    "half a notebook": lambda notebook, hints: cut(notebook),
    "half a hints.json": lambda notebook, hints: cut(hints),
    "no notebook": lambda notebook, hints: notebook.unlink(),
    "a check renamed": lambda notebook, hints: change(notebook, "test_double", "test_double_2"),
    "a cell more": lambda notebook, hints: change(
        notebook, '"cells": [', '"cells": [{"cell_type": "raw", "source": ""}, '
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_written_belongs_to_the_course_as_it_was_at_the_start(course, monkeypatch, capsys, edit):
    hand_in(course, "kim", **RIGHT)
    assert main(["release"]) == 0
    assert grade("--formgrader", "--out", "undisturbed") == 0
    in_workers = grading.in_workers

    def edited_meanwhile(*arguments):
        yield from in_workers(*arguments)
        EDITS[edit](*(course / folder / "01_numbers" / file for folder, file in FILES))

    monkeypatch.setattr(grading, "in_workers", edited_meanwhile)
    assert grade("--formgrader") == 0, capsys.readouterr().err
    for name in ("grades.csv", "report.html", "autograded/kim/01_numbers/numbers.ipynb"):
        assert (course / "graded" / name).read_bytes() == (course / "undisturbed" / name).read_bytes(), name
    assert cells_in_gradebook(course / "graded") == cells_in_gradebook(course / "undisturbed")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"exercises": {"double": 5}}', b"\xff", b"[" * 100_000])
def test_a_damaged_hints_file_is_said_before_anything_is_graded(course, monkeypatch, capsys, content):
    hand_in(course, "kim", **RIGHT)
    main(["release"])
    (course / "exercises" / "01_numbers" / "hints.json").write_bytes(content)
    monkeypatch.setattr("autograder.grade.in_workers", lambda *_: pytest.fail("graded all the same"))
    assert grade() == 2
    assert "autograder release 01_numbers" in capsys.readouterr().err


def test_another_chapter_that_is_broken_keeps_what_it_has_and_is_named(course, capsys):
    hand_in(course, "kim", **RIGHT)
    hand_in(course, "kim", "02_more", **SQUARED)
    grade()
    before = (course / "graded" / "grades.csv").read_bytes(), cells_in_gradebook(course / "graded")
    cut(course / "solutions" / "02_more" / "numbers.ipynb")
    capsys.readouterr()
    assert grade("--assignment", "01_numbers") == 0
    assert "02_more, graded before, cannot be read" in capsys.readouterr().out
    assert ((course / "graded" / "grades.csv").read_bytes(), cells_in_gradebook(course / "graded")) == before


# Time


def test_late_marks_stand_beside_the_raw_score_in_the_csv_the_gradebook_and_the_pages(course):
    (course / "policy.toml").write_text(POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", time="2026-10-06 20:00:00 Asia/Seoul", **RIGHT)
    hand_in(course, "lee", time="2026-10-05 14:00:00.0 UTC", **RIGHT)
    assert grade("--policy", "policy.toml") == 0
    row = rows(course)["kim", "01_numbers", "quadruple"]
    assert (row["score"], row["late_percent"], row["final_score"]) == ("3", "10", "2.7")
    assert row["submitted"] == "2026-10-06T20:00:00+09:00"
    assert rows(course)["lee", "01_numbers", "quadruple"]["final_score"] == "3"
    assert sorted(penalties(course), key=str) == [(0.5,), (None,)]
    page = (course / "graded" / "feedback" / "kim" / "01_numbers.html").read_text("utf-8")
    assert "10 % of the points are taken off" in page
    assert "With that, 4.5 of 5 points count." in page
    assert "after the due date" not in (course / "graded" / "feedback" / "lee" / "01_numbers.html").read_text("utf-8")
    report = (course / "graded" / "report.html").read_text("utf-8")
    assert "Due 2026-10-05 23:59 (Asia/Seoul)." in report
    assert "Late: 10 % of the points are taken off." in report


def test_a_due_date_that_moves_is_a_matter_of_marks_alone(course, monkeypatch):
    policy = course / "policy.toml"
    policy.write_text(POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", time="2026-10-06 20:00:00 Asia/Seoul", **RIGHT)
    grade("--policy", "policy.toml")
    monkeypatch.setattr("autograder.grade.in_workers", nothing_to_grade)
    policy.write_text(POLICY.format(due="2026-10-03T23:59:00"))
    grade("--policy", "policy.toml")
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "1.4"
    policy.write_text(POLICY.format(due="2026-10-07T23:59:00"))
    grade("--policy", "policy.toml")
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "2"
    assert penalties(course) == [(None,)]


def test_late_marks_do_not_vanish_because_the_policy_was_forgotten(course, capsys):
    policy = course / "policy.toml"
    policy.write_text(POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", time="2026-10-06 20:00:00 Asia/Seoul", **RIGHT)
    grade("--policy", "policy.toml")
    assert grade() == 2
    assert "--policy" in capsys.readouterr().err
    policy.write_text("")
    assert grade("--policy", "policy.toml") == 0
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "2"


def test_a_nonsense_time_is_a_warning_in_the_report_and_no_mark(course):
    (course / "policy.toml").write_text(POLICY.format(due="2026-10-05T23:59:00") + "[extensions.kimm]\n")
    hand_in(course, "kim", time="soon <b>", **RIGHT)
    grade("--policy", "policy.toml")
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "2"
    report = (course / "graded" / "report.html").read_text("utf-8")
    assert "No late mark: &#39;soon &lt;b&gt;&#39; is not a date" in report
    assert "No late mark" not in (course / "graded" / "feedback" / "kim" / "01_numbers.html").read_text("utf-8")


def test_times_come_from_the_teacher_s_table(course):
    (course / "policy.toml").write_text(POLICY.format(due="2026-10-05T23:59:00"))
    (course / "times.csv").write_text("student,submitted\nkim,2026-10-07T10:00\n")
    hand_in(course, "kim", **RIGHT)
    assert grade("--policy", "policy.toml", "--times", "times.csv") == 0
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "1.6"


def test_times_of_a_chapter_stay_known_while_another_is_graded(course):
    policy = POLICY.format(due="2026-10-05T23:59:00") + "[chapters.02_more]\ndue = 2026-10-05T23:59:00\n"
    (course / "policy.toml").write_text(policy)
    hand_in(course, "kim", **RIGHT)
    hand_in(course, "kim", "02_more", **RIGHT)
    (course / "times.csv").write_text("student,submitted\nkim,2026-10-07T10:00\n")
    grade("--assignment", "01_numbers", "--policy", "policy.toml", "--times", "times.csv")
    (course / "times.csv").write_text("student,submitted\nkim,2026-10-06T10:00\n")
    grade("--assignment", "02_more", "--policy", "policy.toml", "--times", "times.csv")
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "1.6"
    assert rows(course)["kim", "02_more", "double"]["final_score"] == "1.8"


def test_a_grades_file_that_somebody_made_another_one_is_set_aside(course, capsys):
    hand_in(course, "kim", **RIGHT)
    grade()
    (course / "graded" / "grades.csv").write_text("student;points\nkim;5\n")
    assert grade() == 0
    assert rows(course)["kim", "01_numbers", "double"]["score"] == "2"
    (copy,) = (course / "graded").glob("grades-*.csv")
    assert copy.read_text() == "student;points\nkim;5\n"
    assert str(copy.name) in capsys.readouterr().out


def with_semicolons(path):
    path.write_text(path.read_text("utf-8").replace(",", ";"), encoding="utf-8")


def with_a_column_more(path):
    path.write_text("".join(f"{line},\n" for line in path.read_text("utf-8").splitlines()), encoding="utf-8")


@pytest.mark.parametrize("edit", [with_semicolons, with_a_column_more, os.unlink])
def test_late_marks_outlive_what_a_spreadsheet_makes_of_the_grades_file(course, capsys, edit):
    policy = POLICY.format(due="2026-10-05T23:59:00") + "[chapters.02_more]\ndue = 2026-10-05T23:59:00\n"
    (course / "policy.toml").write_text(policy)
    (course / "times.csv").write_text("student,submitted\nkim\x01,2026-10-07T10:00\n")
    hand_in(course, "kim\x01", **RIGHT)
    grade("--assignment", "01_numbers", "--policy", "policy.toml", "--times", "times.csv")
    edit(course / "graded" / "grades.csv")
    hand_in(course, "kim\x01", "02_more", **RIGHT)
    assert grade("--assignment", "02_more") == 2
    assert "--policy" in capsys.readouterr().err
    assert grade("--assignment", "02_more", "--policy", "policy.toml") == 0
    assert rows(course)["kim\\x01", "01_numbers", "double"]["final_score"] == "1.6"


def test_where_the_grades_file_alone_told_the_times_another_one_is_refused(course, capsys):
    (course / "policy.toml").write_text(POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", time="2026-10-06 20:00:00 Asia/Seoul", **RIGHT)
    grade("--policy", "policy.toml")
    (course / "graded" / "handed_in.json").unlink()
    assert grade() == 2
    assert "--policy" in capsys.readouterr().err
    with_semicolons(course / "graded" / "grades.csv")
    assert grade() == 2
    assert "It alone tells" in capsys.readouterr().err
    (course / "graded" / "grades.csv").unlink()
    assert grade() == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"handed_in": 2}',
        b'{"handed_in": 1, "submissions": [["kim", "01", "soon", 10]]}',
    ],
)
def test_a_damaged_record_of_the_times_is_refused(course, capsys, content):
    hand_in(course, "kim", **RIGHT)
    grade()
    (course / "graded" / "handed_in.json").write_bytes(content)
    assert grade() == 2
    assert "handed_in.json is damaged" in capsys.readouterr().err


def test_a_learner_s_own_zip_cannot_say_when_it_was_handed_in(course):
    (course / "policy.toml").write_text(POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", time="2026-10-07 10:00 Asia/Seoul", **RIGHT)
    hand_in(course, "lee", time="2026-10-01 10:00 Asia/Seoul", **RIGHT)
    lee = course / "class" / "lee"
    shutil.make_archive(str(course / "lee"), "zip", lee)
    shutil.rmtree(lee)
    lee.mkdir()
    shutil.move(course / "lee.zip", lee / "work.zip")
    grade("--policy", "policy.toml")
    assert rows(course)["kim", "01_numbers", "double"]["submitted"].startswith("2026-10-07")
    assert rows(course)["lee", "01_numbers", "double"]["submitted"] == ""
    assert rows(course)["lee", "01_numbers", "double"]["status"] == "passed"
    assert "nothing tells when" in (course / "graded" / "report.html").read_text("utf-8")


def test_a_file_s_own_time_is_taken_where_the_policy_says_so(course):
    (course / "policy.toml").write_text("file_times = true\n" + POLICY.format(due="2026-10-05T23:59:00"))
    hand_in(course, "kim", **RIGHT)
    notebook = course / "class" / "kim" / "01_numbers" / "numbers.ipynb"
    time = datetime(2026, 10, 6, 12, tzinfo=UTC).timestamp()
    os.utime(notebook, (time, time))
    grade("--policy", "policy.toml")
    assert rows(course)["kim", "01_numbers", "double"]["final_score"] == "1.8"


def test_times_without_a_policy_are_refused(course, capsys):
    (course / "times.csv").write_text("student,submitted\nkim,2026-10-07T10:00\n")
    hand_in(course, "kim", **RIGHT)
    assert grade("--times", "times.csv") == 2
    assert "--policy" in capsys.readouterr().err


def test_without_a_policy_the_columns_are_those_of_always(course):
    hand_in(course, "kim", **RIGHT)
    grade()
    header = (course / "graded" / "grades.csv").read_text("utf-8").partition("\n")[0]
    assert header == "student,assignment,notebook,exercise,score,max_score,status,message"


def test_grades_go_from_a_class_to_canvas(course, capsys):
    hand_in(course, "kim", **RIGHT)
    grade()
    (course / "canvas.csv").write_text("Student,ID,Section,Numbers (7)\n    Points Possible,,,10\nKim,kim,A,\n")
    assert main(["export", "--to", "canvas", "--into", "canvas.csv"]) == 0
    assert (course / "canvas-filled.csv").read_text().endswith("Kim,kim,A,10.00\n")
    assert "5 points here are 10 there" in capsys.readouterr().out
    assert main(["export", "--to", "canvas", "--into", "canvas.csv"]) == 2
    assert "is there already" in capsys.readouterr().err
