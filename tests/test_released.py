"""Where a notebook's hints are found when it was moved, and what is said when they are nowhere."""

from __future__ import annotations

import json
import shutil

import pytest
from made_up import handed_in, make_course

from autograder.errors import UsageError
from autograder.notebooks import parse_cells
from autograder.release import release
from autograder.released import find_released

CELLS = parse_cells(handed_in())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("course"))
    release(course, [])
    return course.root


@pytest.fixture
def course(made, tmp_path):
    shutil.copytree(made, tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def test_the_file_beside_the_notebook_is_taken(course, elsewhere):
    beside = course / "exercises" / "01_numbers"
    found = find_released(beside / "numbers.ipynb", CELLS, elsewhere)
    assert (found.notebook.name, found.chapter) == ("numbers", "01_numbers")
    assert found.has_hints
    assert set(found.known) == {"double", "quadruple"}
    assert found.others == ()


@pytest.mark.parametrize("name", ["numbers.ipynb", "numbers (1).ipynb", "my answers.ipynb"])
def test_a_notebook_alone_finds_the_file_of_the_course_it_is_checked_in(course, elsewhere, name):
    for inside in (course, course / "solutions" / "01_numbers"):
        found = find_released(elsewhere / name, CELLS, inside)
        assert found.chapter == "01_numbers"
        assert [exercise.name for exercise in found.notebook.exercises] == ["double", "quadruple"]


def test_a_notebook_in_another_folder_of_the_course_finds_it_from_everywhere(course, elsewhere):
    assert find_released(course / "mine" / "numbers.ipynb", CELLS, elsewhere).has_hints


def test_another_chapters_file_is_passed_over(course, elsewhere):
    own = course / "exercises" / "01_numbers" / "hints.json"
    table = json.loads(own.read_text("utf-8"))
    given, *_ = table["notebooks"]["numbers"]
    table |= {"assignment": "00_other", "notebooks": {"other": [given]}}  # every chapter's given cells look alike
    (elsewhere / "hints.json").write_text(json.dumps(table))
    assert find_released(elsewhere / "numbers.ipynb", CELLS, course).chapter == "01_numbers"
    assert find_released(elsewhere / "numbers.ipynb", CELLS, elsewhere).has_hints is False


@pytest.mark.parametrize("content", ["{", "[]", '{"exercises": {}}', '{"exercises": {"a": 1}, "notebooks": {}}'])
def test_a_broken_file_beside_the_notebook_is_said_and_another_chapters_is_not(course, elsewhere, content):
    (elsewhere / "hints.json").write_text(content)
    with pytest.raises(UsageError, match="get the exercises once more"):
        find_released(elsewhere / "numbers.ipynb", CELLS, course)
    (elsewhere / "hints.json").unlink()
    (course / "exercises" / "00_broken").mkdir()
    (course / "exercises" / "00_broken" / "hints.json").write_text(content)
    assert find_released(elsewhere / "numbers.ipynb", CELLS, course).has_hints


def test_without_any_file_the_copy_is_taken_as_it_stands(elsewhere):
    found = find_released(elsewhere / "mine.ipynb", CELLS, elsewhere)
    assert not found.has_hints
    assert (found.notebook.name, found.chapter, found.others) == ("mine", "elsewhere", ())
    assert [exercise.name for exercise in found.notebook.exercises] == ["double", "quadruple"]
