"""What `autograder check` remembers: where, for how long, and that it is a convenience alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.attempts import Attempts, _file, keep_attempts, read_attempts
from autograder.results import ExerciseResult


def result(status="failed", misconception="squared", answer="x * x", exercise="double"):
    return ExerciseResult("", "01", "numbers", exercise, 0, 1, status, "", misconception, answer)


@pytest.fixture
def notebook(tmp_path):
    path = tmp_path / "numbers.ipynb"
    path.touch()
    return path


def test_each_new_answer_with_the_same_mistake_counts_once():
    attempts = Attempts()
    assert attempts.before("double", "squared", "x * x") == 0
    attempts.record([result()])
    assert attempts.before("double", "squared", "x * x") == 0  # saved again, unchanged
    assert attempts.before("double", "squared", "x ** 2") == 1
    attempts.record([result()])
    attempts.record([result(answer="x ** 2")])
    assert attempts.before("double", "squared", "x ** 2") == 1
    assert attempts.before("double", "squared", "x**2") == 2
    assert attempts.before("double", "plus_two", "x**2") == 0


def test_each_run_counts(notebook):
    for times in range(3):
        attempts = read_attempts(notebook)
        assert attempts.before("double", "squared", "x * x") == times
        attempts.record([result()])
        keep_attempts(notebook, attempts)


def test_what_passes_is_forgotten(notebook):
    attempts = Attempts()
    attempts.record([result(), result(exercise="quadruple", misconception="once")])
    attempts.record([result(status="passed", misconception=""), result("failed", "", "", "quadruple")])
    assert attempts.times == {"quadruple": {"once": 1}}
    attempts.record([result(status="passed", misconception="", exercise="quadruple")])
    keep_attempts(notebook, attempts)
    assert json.loads(_file().read_text()) == {}


def test_each_notebook_has_its_own(notebook, tmp_path):
    other = tmp_path / "other.ipynb"
    other.touch()
    keep_attempts(notebook, Attempts({"double": {"squared": 2}}))
    keep_attempts(other, Attempts({"double": {"squared": 5}}))
    assert read_attempts(notebook).times == {"double": {"squared": 2}}


def test_a_notebook_that_is_gone_is_dropped(notebook, tmp_path):
    keep_attempts(notebook, Attempts({"double": {"squared": 2}}))
    notebook.unlink()
    keep_attempts(tmp_path / "other.ipynb", Attempts())
    assert json.loads(_file().read_text()) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"a": []}',
        b'{"a": {"b": 1}}',
        b'{"a": {"b": {"c": "2"}}}',
        b'{"a": {"b": {"c": -2}}}',
    ],
)
def test_a_broken_file_is_as_none_and_is_mended(notebook, content):
    _file().parent.mkdir(parents=True)
    _file().write_bytes(content)
    assert read_attempts(notebook).times == {}
    keep_attempts(notebook, Attempts({"double": {"squared": 2}}))
    assert read_attempts(notebook).times == {"double": {"squared": 2}}


def test_where_nothing_can_be_written_nothing_is_said(notebook, state_folder):
    (state_folder / "autograder").write_text("a file where the folder should be")
    keep_attempts(notebook, Attempts({"double": {"squared": 2}}))
    assert read_attempts(notebook).times == {}


def test_a_user_without_a_home_can_check_all_the_same(notebook, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(Path, "home", no_home)
    keep_attempts(notebook, Attempts({"double": {"squared": 2}}))
    assert read_attempts(notebook).times == {}


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, ".local/state"),
        ("linux", {"XDG_STATE_HOME": "relative"}, ".local/state"),
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Local"),
        ("win32", {"LOCALAPPDATA": "elsewhere"}, None),
    ],
)
def test_each_platform_has_its_place(monkeypatch, tmp_path, platform, variables, folder):
    monkeypatch.delenv("XDG_STATE_HOME")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    expected = tmp_path / folder if folder else Path("elsewhere")
    assert _file() == expected / "autograder" / "attempts.json"
