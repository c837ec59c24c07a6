"""FIELD, "Files": the files that really come. Zips and downloads are in `test_collected`, rosters in `test_roster`."""

from __future__ import annotations

import csv
import io
import json
import os
import time
import unicodedata
import zipfile
from dataclasses import replace

import pytest
from made_up import handed_in, make_two_chapters, notebook, own_cell, word_cells

from autograder import notebooks
from autograder.__main__ import main
from autograder.collected import HandedFile, collect
from autograder.intake import make_plan
from autograder.limits import LIMITS
from autograder.notebooks import Unreadable, parse_cells
from autograder.recognise import Recogniser, bare_name
from autograder.submission import read_submission

ANSWER = "def double(x):\n    return x + x"
ANSWERED = handed_in(double=ANSWER)
OTHER = handed_in(double="def double(x):\n    return x * x")
SHOUT = json.dumps(notebook(*word_cells("shout"))).encode()
WHISPER = json.dumps(notebook(*word_cells("whisper"))).encode()


@pytest.fixture
def course(tmp_path):
    return make_two_chapters(tmp_path / "course")


@pytest.fixture
def read(course, tmp_path):
    """What one student's files become: their submission for a chapter."""
    recogniser = Recogniser(course.readable()[0].values())

    def read(files, chapter="01_numbers", times=None):
        for number, (name, content) in enumerate(files.items()):
            path = tmp_path / "class" / "kim" / name
            (tmp_path / "class" / "lee").mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if times:
                os.utime(path, (times[number], times[number]))
        collected = collect(tmp_path / "class", course.chapters, recogniser)
        return read_submission(collected.students["kim"], course.assignment(chapter), [chapter], recogniser)

    return read


def plan_of(course, content):
    return make_plan(course.assignment("01_numbers").notebooks[0], parse_cells(content))


# Names


@pytest.mark.parametrize(
    "name",
    [
        *(
            "numbers (1).ipynb",
            "Numbers.IPYNB",
            "numbers-Copy1.ipynb",
            "numbers - Copy (2).ipynb",
            "numbers copy.ipynb",
        ),
        *(
            "numbers - 복사본.ipynb",
            "my homework [final].ipynb",
            "숙제, 1.ipynb",
            "numbers.ipynb.txt",
            "20231234.ipynb",
        ),
    ],
)
def test_a_renamed_notebook_is_read_and_that_is_said(read, name):
    submission = read({f"01_numbers/{name}": ANSWERED})
    assert submission.files == (("numbers", ANSWERED),)
    (repair,) = submission.repairs
    assert name in repair
    assert submission.flags == ()


@pytest.mark.parametrize(
    "name",
    [
        *("scores (2).ipynb", "Scores.IPYNB", " scores .ipynb", "scores-Copy3.ipynb", "scores copy 2.ipynb"),
        *("scores - Copy.ipynb", "scores - 복사본 (3).ipynb", "scores 복사본.ipynb", "scores (1) (2).ipynb"),
        *("scores.ipynb.txt", "scores.ipynb.json", unicodedata.normalize("NFD", "scores 복사본.ipynb")),
    ],
)
def test_a_copys_name_is_the_name_of_what_it_was_copied_from(name):
    assert bare_name(name) == "scores"


@pytest.mark.parametrize("name", ["scores2.ipynb", "scores final.ipynb", "photocopy.ipynb", "scores.py"])
def test_another_name_is_no_copys(name):
    assert bare_name(name) != "scores"


def test_notebooks_whose_names_say_nothing_are_told_apart_by_their_cells(read):
    submission = read({"02_words/first.ipynb": WHISPER, "02_words/second.ipynb": SHOUT}, "02_words")
    assert dict(submission.files) == {"shout": SHOUT, "whisper": WHISPER}
    assert len(submission.repairs) == 2


def test_a_renamed_notebook_that_cannot_be_read_is_unreadable_and_not_missing(read):
    assert read({"01_numbers/homework.ipynb": b""}).files == (("numbers", b""),)


@pytest.mark.parametrize("name", ["shout.ipynb", "numbers.ipynb", "homework.ipynb"])
def test_a_notebook_of_another_chapter_is_missing_and_said_where_it_belongs(read, name):
    submission = read({f"01_numbers/{name}": SHOUT})
    assert submission.files == (("numbers", None),)
    (flag,) = submission.flags
    assert name in flag
    assert "02_words/shout.ipynb" in flag
    ((_, status, message),) = submission.absent
    assert status == "missing"
    assert "numbers.ipynb was not handed in" in message
    assert "02_words/shout.ipynb" in message


def test_a_notebook_of_another_chapter_beside_the_right_one_does_no_harm(read):
    submission = read({"01_numbers/numbers.ipynb": ANSWERED, "01_numbers/shout.ipynb": SHOUT})
    assert submission.files == (("numbers", ANSWERED),)


@pytest.mark.parametrize("folder", ["", "chapter one/", "01_number/"])
def test_a_notebook_outside_its_chapters_folder_is_read_and_that_is_said(read, folder):
    submission = read({f"{folder}numbers.ipynb": ANSWERED})
    assert submission.files == (("numbers", ANSWERED),)
    (repair,) = submission.repairs
    assert f"{folder}numbers.ipynb was read as 01_numbers/numbers.ipynb" in repair
    assert submission.flags == ()


@pytest.mark.parametrize("folder", ["01_Numbers", "01_numbers (1)", "01_numbers-Copy1"])
def test_a_chapters_folder_may_be_a_copy(read, folder):
    assert read({f"{folder}/numbers.ipynb": ANSWERED}).files == (("numbers", ANSWERED),)


def test_a_folder_that_is_no_chapter_is_flagged(read):
    submission = read({"01_numbers/numbers.ipynb": ANSWERED, "holidays/beach.ipynb": b"{}", "01_numbers/data/x": b""})
    (flag,) = submission.flags
    assert "holidays" in flag


def test_what_is_about_all_of_a_students_work_is_flagged_once(course, tmp_path):
    recogniser = Recogniser(course.readable()[0].values())
    (tmp_path / "class" / "kim" / "holidays").mkdir(parents=True)
    kim = collect(tmp_path / "class", course.chapters, recogniser).students["kim"]
    flags = [read_submission(kim, course.assignment(c), course.chapters, recogniser).flags for c in course.chapters]
    assert list(map(len, flags)) == [1, 0]


# Copies and attempts


def test_of_two_copies_that_differ_the_newer_one_is_taken_and_both_are_named(read):
    files = {"01_numbers/numbers.ipynb": OTHER, "01_numbers/numbers (1).ipynb": ANSWERED}
    submission = read(files, times=(1_000_000, 2_000_000))
    assert submission.files == (("numbers", ANSWERED),)
    (flag,) = submission.flags
    assert flag.index("numbers (1).ipynb was graded") < flag.index("and not 01_numbers/numbers.ipynb")
    assert any("of several copies, 01_numbers/numbers (1).ipynb was graded" in repair for repair in submission.repairs)


def test_of_two_copies_of_one_time_the_one_with_the_right_name_is_taken(read):
    files = {"01_numbers/numbers_copy.ipynb": OTHER, "01_numbers/numbers.ipynb": ANSWERED}
    submission = read(files, times=(1_000_001, 1_000_000))
    assert submission.files == (("numbers", ANSWERED),)
    assert len(submission.flags) == 1


def test_of_attempts_in_folders_the_last_is_taken(read):
    files = {f"attempt {n}/01_numbers/numbers.ipynb": ANSWERED if n == 10 else OTHER for n in (9, 10, 1)}
    submission = read(files, times=(1_000_000,) * 3)
    assert submission.files == (("numbers", ANSWERED),)
    assert len(submission.flags) == 1


def test_a_copy_that_cannot_be_read_gives_way_to_one_that_can(read):
    files = {"01_numbers/numbers.ipynb": ANSWERED, "01_numbers/numbers (1).ipynb": ANSWERED[:99]}
    submission = read(files, times=(1_000_000, 2_000_000))
    assert submission.files == (("numbers", ANSWERED),)
    assert len(submission.flags) == 1


def test_a_copy_that_this_machine_cannot_read_gives_way_to_none(read, monkeypatch):
    read_one = HandedFile.read

    def refuse(self):
        if self.name == "numbers (1).ipynb":
            raise PermissionError(13, "Permission denied")
        return read_one(self)

    monkeypatch.setattr(HandedFile, "read", refuse)
    files = {"01_numbers/numbers.ipynb": ANSWERED, "01_numbers/numbers (1).ipynb": OTHER}
    submission = read(files, times=(1_000_000, 2_000_000))
    assert submission.files == (("numbers", None),)
    assert submission.absent[0][1] == "ungraded"


def test_a_fault_of_ours_in_reading_costs_no_points_and_no_other_student(read, monkeypatch):
    def fail(*args):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("autograder.submission.find_notebooks", fail)
    submission = read({"01_numbers/numbers.ipynb": ANSWERED})
    ((notebook, status, message),) = submission.absent
    assert (notebook, status) == ("numbers", "ungraded")
    assert "ZeroDivisionError" in message


def test_copies_that_differ_only_in_what_they_printed_are_no_news(read):
    ran = json.loads(ANSWERED)
    ran["cells"][1]["execution_count"] = 3
    submission = read(
        {"01_numbers/numbers.ipynb": ANSWERED, "01_numbers/numbers-Copy1.ipynb": json.dumps(ran).encode()}
    )
    assert submission.flags == ()


def test_a_folder_full_of_copies_is_not_read_without_end(read):
    submission = read({f"01_numbers/numbers ({n}).ipynb": ANSWERED for n in range(60)})
    assert submission.files == (("numbers", ANSWERED),)
    assert "more than 50" in submission.flags[0]


def test_a_folder_full_of_large_copies_is_not_read_without_end(read, monkeypatch):
    files = {f"01_numbers/numbers ({n}).ipynb": ANSWERED for n in range(9)}
    monkeypatch.setattr("autograder.collected.LIMITS", replace(LIMITS, notebooks_bytes=3 * len(ANSWERED)))
    asked = []
    read_one = HandedFile.read
    monkeypatch.setattr(HandedFile, "read", lambda self: asked.append(self) or read_one(self))
    submission = read(files)
    assert submission.files == (("numbers", ANSWERED),)
    assert "MiB of notebooks came" in submission.flags[0]
    assert len(set(asked)) == 3


def test_whose_notebook_was_one_too_many_is_told_so(read):
    submission = read({f"00/{n}.ipynb": SHOUT for n in range(50)} | {"01_numbers/numbers.ipynb": ANSWERED})
    assert submission.files == (("numbers", None),)
    ((_, _, message),) = submission.absent
    assert "more than 50 notebooks came" in message


def test_what_is_left_of_a_zip_s_promise_is_not_read(read):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("01_numbers/numbers.ipynb", ANSWERED)
    small = (10).to_bytes(4, "little")
    content = buffer.getvalue().replace(len(ANSWERED).to_bytes(4, "little"), small)
    ((_, status, message),) = read({"work.zip": content}).absent
    assert status == "unreadable"
    assert "damaged" in message


# Content

NOT_NOTEBOOKS = {
    "empty": b"",
    "null": b"null",
    "truncated": ANSWERED[: len(ANSWERED) // 2],
    "conflict": b"<<<<<<< HEAD\n" + ANSWERED,
    "html": b"<!DOCTYPE html><html><body>Sign in</body></html>",
    "utf-16": ANSWERED.decode().encode("utf-16"),
    "a list": b"[]",
    "format 3": b'{"nbformat": 3, "worksheets": []}',
    "format 5": b'{"nbformat": 5, "cells": []}',
}


def test_a_file_that_is_no_notebook_costs_its_own_points_and_the_batch_goes_on(course, sandbox, monkeypatch, tmp_path):
    monkeypatch.chdir(course.root)
    for student, content in {**NOT_NOTEBOOKS, "marked": b"\xef\xbb\xbf" + ANSWERED, "zzz": ANSWERED}.items():
        path = tmp_path / "class" / student / "01_numbers" / "numbers.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    assert main(["grade", str(tmp_path / "class")]) == 0
    with (course.root / "graded" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file) if row["exercise"] == "double"}
    assert {student for student, row in rows.items() if row["status"] == "unreadable"} == set(NOT_NOTEBOOKS)
    assert rows["marked"]["status"] == rows["zzz"]["status"] == "passed"
    assert "format 5 is not supported: save it as format 4" in rows["format 5"]["message"]


def edited(edit):
    cells = json.loads(ANSWERED)
    edit(cells)
    return json.dumps(cells).encode()


def colab(book):
    book["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "accelerator": "GPU",
    }
    book["nbformat_minor"] = 0
    for cell in book["cells"]:
        cell["metadata"] |= {"id": cell.pop("id"), "colab": {"base_uri": "https://colab.example"}, "outputId": "x"}


def vscode(book):
    book["metadata"] = {"language_info": {"name": "python", "version": "3.11.9"}, "orig_nbformat": 4}
    book["nbformat_minor"] = 2
    for cell in book["cells"]:
        del cell["id"]
        cell["metadata"]["vscode"] = {"languageId": "python"}


def unknown_kernel(book):
    book["metadata"]["kernelspec"] = {"name": "my-env", "display_name": "my env", "language": "julia"}


def no_metadata(book):
    del book["metadata"]


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5, 99, None, "5"])
def test_any_minor_version_is_read_with_and_without_cell_ids(course, minor):
    def edit(book):
        book["nbformat_minor"] = minor
        if minor in (0, 1, 2, 3, 4):
            for cell in book["cells"]:
                del cell["id"]

    assert plan_of(course, edited(edit)).answers["double"] == ANSWER


@pytest.mark.parametrize("edit", [colab, vscode, unknown_kernel, no_metadata])
def test_what_other_editors_write_makes_no_difference(course, edit):
    plan = plan_of(course, edited(edit))
    assert plan.answers["double"] == ANSWER
    assert plan.repairs == plan.changed_checks == ()


@pytest.mark.parametrize("version", [3, 5, "4", None])
def test_an_unknown_major_version_is_said(version):
    with pytest.raises(Unreadable, match="format"):
        parse_cells(edited(lambda book: book.update(nbformat=version)))


def test_millions_of_cells_are_not_looked_at_one_by_one():
    content = b'{"nbformat": 4, "cells": [' + b",".join([b"{}"] * 1_000_000) + b"]}"
    started = time.monotonic()
    with pytest.raises(Unreadable, match="more than 10000 cells"):
        parse_cells(content)
    assert time.monotonic() - started < 2  # about 0.2 on a quiet machine, and 4 for all the cells


def test_a_notebook_is_read_once_for_all_that_is_asked_of_it(read, monkeypatch):
    asked = []
    monkeypatch.setattr(notebooks, "load_notebook", lambda content: asked.append(content) or json.loads(content))
    own = {"cells": [own_cell("x = 1")], "nbformat": 4, "a learner's": "of no other test"}
    content = json.dumps(own).encode()
    assert read({"01_numbers/numbers.ipynb": content}).files == (("numbers", content),)
    assert asked.count(content) == 1


def test_a_notebook_that_is_none_of_those_asked_for_is_looked_into_once(read, monkeypatch):
    asked = []
    read_one = HandedFile.read
    monkeypatch.setattr(HandedFile, "read", lambda self: asked.append(self) or read_one(self))
    submission = read({"02_words/homework.ipynb": ANSWERED}, "02_words")
    assert dict(submission.files) == {"shout": None, "whisper": None}
    assert len(asked) == 1


def test_a_file_of_gigabytes_is_unreadable_and_is_not_read_whole(read, tmp_path):
    read({"01_numbers/numbers.ipynb": b""})
    with (tmp_path / "class" / "kim" / "01_numbers" / "numbers.ipynb").open("wb") as file:
        file.truncate(10 << 30)
    ((_, content),) = read({}).files
    with pytest.raises(Unreadable, match="larger than"):
        parse_cells(content)
