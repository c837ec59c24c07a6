"""The commands as people type them: what they print, and how they end."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from made_up import handed_in, make_course

from autograder.__main__ import main
from autograder.link import Stopped
from autograder.statuses import TIMEOUT

RIGHT = {"double": "def double(x):\n    return x + x", "quadruple": "def quadruple(x):\n    return 4 * x"}
SQUARED = {"double": "def double(x):\n    return x * x"}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A released course, and the current folder in it."""
    make_course(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["release"]) == 0
    return tmp_path


def hand_in(folder, student, **answers):
    path = folder / student / "01_numbers" / "numbers.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(handed_in(**answers))


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fails(capsys, *arguments):
    """The one line that a wrong use ends with."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err


def test_check_says_right_or_not_yet_with_the_hint(course, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    assert main(["check", str(notebook)]) == 1
    assert "not answered yet" in capsys.readouterr().out
    notebook.write_bytes(handed_in(**SQUARED))
    assert main(["check", str(notebook)]) == 1
    assert "You square x" in capsys.readouterr().out
    notebook.write_bytes(handed_in(**RIGHT))
    assert main(["check", str(notebook)]) == 0
    assert "All 2 pass" in capsys.readouterr().out


def test_check_names_a_known_mistake_that_the_visible_checks_do_not_see(course, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    blind = {
        "double": "def double(x):\n    return x * x if np.size(x) != 2 else 2 * x",
        "quadruple": RIGHT["quadruple"],
    }
    notebook.write_bytes(handed_in(**blind))
    assert main(["check", str(notebook)]) == 1
    out = capsys.readouterr().out
    assert "You square x" in out
    assert "More run at grading" in out


def test_check_runs_the_released_checks_and_says_that_a_copy_changed_one(course, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    forged = json.loads(handed_in(**SQUARED))
    forged["cells"][2]["source"] = "assert True"
    notebook.write_text(json.dumps(forged), encoding="utf-8")
    assert main(["check", str(notebook)]) == 1
    out = capsys.readouterr().out
    assert "You square x" in out
    assert "test_double" in out


@pytest.fixture
def alone(tmp_path_factory):
    """A notebook with nothing beside it, outside the course."""
    path = tmp_path_factory.mktemp("elsewhere") / "numbers.ipynb"
    path.write_bytes(handed_in(**SQUARED))
    return path


def test_check_without_any_hints_file_says_so_and_checks_all_the_same(alone, monkeypatch, capsys):
    monkeypatch.chdir(alone.parent)
    assert main(["check", "numbers.ipynb"]) == 1
    out = capsys.readouterr().out
    assert "✗ double" in out
    assert "You square x" not in out
    assert "no hints.json of this notebook was found" in out


def test_check_takes_the_courses_hints_for_a_notebook_alone(course, alone, monkeypatch, capsys):
    assert main(["check", str(alone)]) == 1
    assert "You square x" in capsys.readouterr().out
    monkeypatch.chdir(alone.parent)
    assert main(["--course", str(course), "check", str(alone)]) == 1
    assert "You square x" in capsys.readouterr().out


def test_the_hint_of_check_grows_from_run_to_run_until_the_exercise_passes(course, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    hint = "You square x: 2 is the one number where that looks right."

    def checked(**answers):
        notebook.write_bytes(handed_in(**answers))
        main(["check", str(notebook)])
        return " ".join(capsys.readouterr().out.split())

    grown = f"{hint} Try `double(np.array([1.0, -2.0, 5.0]))`: your answer gives [1, 4, 25]."
    first, second = checked(**SQUARED), checked(**SQUARED)
    assert hint in first
    assert grown not in first
    assert grown in second
    checked(**RIGHT)
    assert grown not in checked(**SQUARED)


def test_check_says_when_python_cannot_be_started(course, monkeypatch, capsys):
    def fail(*arguments):
        raise Stopped(TIMEOUT, "starting Python took longer than 60 seconds")

    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    monkeypatch.setattr("autograder.check.connect", fail)
    assert "Python could not be started" in fails(capsys, "check", str(notebook))


def test_a_reader_that_has_read_enough_causes_no_complaint(alone):
    end, beginning = os.pipe()
    os.close(end)
    command = [sys.executable, "-m", "autograder", "check", str(alone)]
    done = subprocess.run(command, stdout=beginning, stderr=subprocess.PIPE)
    os.close(beginning)
    assert done.stderr == b""
    assert done.returncode == 1


def test_a_stopped_check_says_nothing_of_grading(monkeypatch, capsys):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.check.check_notebook", stop)
    assert main(["check", "numbers.ipynb"]) == 130
    assert capsys.readouterr().err.strip() == "Stopped."


def test_check_leaves_nothing_in_the_learners_folder(course, capsys):
    folder = course / "exercises" / "01_numbers"
    before = sorted(folder.iterdir())
    main(["check", str(folder / "numbers.ipynb")])
    assert sorted(folder.iterdir()) == before


def test_grade_writes_a_row_for_each_exercise_of_each_student(course, sandbox, capsys):
    hand_in(course / "class", "kim", **RIGHT)
    hand_in(course / "class", "이름, 학생", **SQUARED)
    (course / "class" / "absent").mkdir()
    assert main(["grade", "class", "--out", "graded"]) == 0
    found = {(row["student"], row["exercise"]): row for row in rows(course / "graded" / "grades.csv")}
    assert len(found) == 6
    assert found["kim", "double"]["status"] == "passed"
    assert (found["이름, 학생", "double"]["score"], found["이름, 학생", "double"]["status"]) == ("0", "failed")
    assert "You square x" in found["이름, 학생", "double"]["message"]
    assert found["absent", "quadruple"]["status"] == "missing"
    for name in ("report.html", "gradebook.db", "journal.jsonl"):
        assert (course / "graded" / name).stat().st_size


def test_check_and_grade_say_the_same_of_a_visible_mistake(course, sandbox, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    hand_in(course / "class", "kim", **SQUARED)
    shutil.copy(course / "class" / "kim" / "01_numbers" / "numbers.ipynb", notebook)
    main(["check", str(notebook)])
    checked = capsys.readouterr().out
    main(["grade", "class"])
    (row,) = [row for row in rows(course / "graded" / "grades.csv") if row["exercise"] == "double"]
    assert row["message"] in " ".join(checked.split())


def test_grading_again_takes_what_is_known_and_gives_the_same_bytes(course, sandbox, capsys):
    hand_in(course / "class", "kim", **SQUARED)
    hand_in(course / "class", "lee", **RIGHT)
    assert main(["grade", "class", "--out", "one"]) == 0
    capsys.readouterr()
    assert main(["grade", "class", "--out", "one"]) == 0
    assert "2 of them were known" in capsys.readouterr().out
    assert main(["grade", "class", "--out", "two", "--jobs", "1"]) == 0
    for name in ("grades.csv", "report.html", "feedback/kim/01_numbers.html"):
        assert (course / "one" / name).read_bytes() == (course / "two" / name).read_bytes(), name


def test_what_changed_is_graded_again(course, sandbox, capsys):
    hand_in(course / "class", "kim", **SQUARED)
    main(["grade", "class"])
    shutil.rmtree(course / "class")
    hand_in(course / "class", "kim", **RIGHT)
    main(["grade", "class"])
    assert all(row["status"] == "passed" for row in rows(course / "graded" / "grades.csv"))


def test_a_zip_and_a_roster_give_a_row_for_everybody_and_say_what_to_look_at(course, sandbox, capsys):
    with zipfile.ZipFile(course / "download.zip", "w") as archive:
        archive.writestr("Kim Minji_7_assignsubmission_file/numbers.ipynb", handed_in(**RIGHT))
        archive.writestr("Park Sora_8_assignsubmission_file/numbers.ipynb", handed_in(**SQUARED))
        archive.writestr("Park Sora_8_assignsubmission_file/../../x.ipynb", b"")
        archive.writestr("stray.ipynb", b"{}")
    (course / "roster.csv").write_text("student,Full name\nkim,Kim Minji\nlee,Lee Jiho\n", encoding="utf-8")
    assert main(["grade", "download.zip", "--roster", "roster.csv"]) == 0
    found = {(row["student"], row["exercise"]): row["status"] for row in rows(course / "graded" / "grades.csv")}
    assert found["kim", "double"] == "passed"
    assert found["Park Sora_8", "double"] == "failed"
    assert found["lee", "double"] == "missing"
    out = capsys.readouterr().out
    assert "One submission is worth a look" in out
    report = (course / "graded" / "report.html").read_text("utf-8")
    for said in ("stray.ipynb", "Not on the roster, and graded all the same: Park Sora_8"):
        assert said in out
        assert said in report
    assert "leads out of it" in report


def test_the_same_work_in_a_zip_and_in_a_folder_is_graded_once(course, sandbox, capsys):
    hand_in(course / "class", "kim", **RIGHT)
    shutil.make_archive("class", "zip", "class")
    assert main(["grade", "class"]) == main(["grade", "class.zip"]) == 0
    assert "1 of them were known" in capsys.readouterr().out


def test_a_chapter_can_be_named(course, sandbox, capsys):
    hand_in(course / "class", "kim", **RIGHT)
    assert main(["grade", "class", "--assignment", "01_numbers", "01_numbers"]) == 0
    assert len(rows(course / "graded" / "grades.csv")) == 2
    assert "01_numbers" in fails(capsys, "grade", "class", "--assignment", "99_none")


def test_release_check_tells_what_differs(course, capsys):
    assert main(["release", "--check"]) == 0
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    notebook.write_text(notebook.read_text("utf-8") + " ", encoding="utf-8")
    assert main(["release", "--check"]) == 1
    assert "exercises/01_numbers/numbers.ipynb" in capsys.readouterr().out


def test_release_keeps_the_answers_that_it_would_overwrite(course, capsys):
    notebook = course / "exercises" / "01_numbers" / "numbers.ipynb"
    answers = handed_in(**RIGHT)
    notebook.write_bytes(answers)
    assert main(["release"]) == 0
    assert "kept/01_numbers/numbers-" in capsys.readouterr().out
    (kept,) = (course / "kept" / "01_numbers").iterdir()
    assert kept.read_bytes() == answers
    assert notebook.read_bytes() != answers


def test_release_refuses_an_exercise_that_is_not_fair_and_keeps_the_last_one(course, capsys):
    before = (course / "exercises" / "01_numbers" / "numbers.ipynb").read_bytes()
    path = course / "solutions" / "01_numbers" / "numbers.ipynb"
    path.write_text(path.read_text("utf-8").replace("return 2 * x", "return 3 * x"), encoding="utf-8")
    assert "double" in fails(capsys, "release")
    assert (course / "exercises" / "01_numbers" / "numbers.ipynb").read_bytes() == before


def test_a_sample_class_is_graded_as_its_makers_meant_it(course, sandbox, capsys):
    from autograder.course import Course
    from autograder.sample import make_sample

    made = make_sample(Course(course), course / "sample", 8, 3)
    assert main(["grade", "sample"]) == 0
    found = {(row["student"], row["exercise"]): row for row in rows(course / "graded" / "grades.csv")}
    assert len(made) > 8
    for answer in made:
        row = found[answer.student, answer.exercise]
        spoiled = row["message"].startswith("This answer calls double")
        assert (row["status"] == "passed") == (answer.kind == "right" and not spoiled), (answer, row)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "nowhere.ipynb"], "no file"),
        (["check", "solutions"], "no file"),
        (["grade", "nowhere"], "no folder"),
        (["grade", "empty"], "empty"),
        (["grade", "solutions"], "<student>/<chapter>/<notebook>.ipynb"),
        (["grade", "file"], "no zip"),
        (["grade", "class", "--roster", "nowhere.csv"], "nowhere.csv"),
        (["grade", "class", "--roster", "file"], "needs a column 'student'"),
        (["grade", "class", "--out", "file"], "file"),
        (["grade", "class", "--out", "class"], "lies inside class"),
        (["grade", "class", "--out", "link/../class/results"], "lies inside class"),
        (["grade", "link", "--out", "class/results"], "lies inside link"),
        (["release", "99_none"], "99_none"),
        (["sample", "solutions"], "solutions"),
    ],
)
def test_a_wrong_use_gets_one_clear_sentence(course, capsys, arguments, words):
    (course / "empty").mkdir()
    (course / "file").write_text("not a folder")
    hand_in(course / "class", "kim")
    (course / "link").symlink_to("class")
    assert words in fails(capsys, *arguments)


def test_outside_a_course_that_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "No course here" in fails(capsys, "release")


def test_a_notebook_that_is_none_is_said(course, capsys):
    (course / "broken.ipynb").write_text("<html>")
    assert "web page" in fails(capsys, "check", "broken.ipynb")
    (course / "other.ipynb").write_text('{"cells": [], "nbformat": 4}')
    assert "no exercise" in fails(capsys, "check", "other.ipynb")


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_count_is_a_number_from_one_up(course, capsys, count):
    with pytest.raises(SystemExit) as caught:
        main(["grade", "class", "--jobs", count])
    assert caught.value.code == 2
    assert count in capsys.readouterr().err


def test_without_a_sandbox_grading_stops_unless_told(course, monkeypatch, capsys):
    monkeypatch.setattr("autograder.grade.find_sandbox", lambda: (None, "a reason"))
    hand_in(course / "class", "kim", **RIGHT)
    message = fails(capsys, "grade", "class")
    assert "a reason" in message
    assert "--unsafe" in message
    assert main(["grade", "class", "--unsafe"]) == 0
    assert "no sandbox" in (course / "graded" / "report.html").read_text("utf-8")


def test_what_we_fail_to_grade_is_no_zero_and_is_tried_again(course, sandbox, monkeypatch, capsys):
    hand_in(course / "class", "kim", **RIGHT)
    with monkeypatch.context() as broken:
        broken.setattr("autograder.workers.PROGRAM", "raise SystemExit(1)")
        assert main(["grade", "class"]) == 3
    (row, _) = rows(course / "graded" / "grades.csv")
    assert (row["status"], row["score"]) == ("ungraded", "")
    assert main(["grade", "class"]) == 0
    assert all(row["status"] == "passed" for row in rows(course / "graded" / "grades.csv"))


def test_the_doctor_tries_every_protection(sandbox, short_limits, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "✓ the network cannot be reached" in out
    assert "✓ the machine's files cannot be read" in out
    assert "NOT HELD" not in out


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for command in ("check", "release", "sample", "grade", "export", "doctor"):
        assert command in out
