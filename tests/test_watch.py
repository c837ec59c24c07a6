"""`check --watch`: a save is checked at once, what is half-written is waited for, and only what is new is said."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading

import pytest
from made_up import handed_in, make_course, own_cell

from autograder import watch as watching
from autograder.__main__ import main
from autograder.attempts import Attempts
from autograder.check import Checked, check_notebook
from autograder.course import SourceNotebook
from autograder.link import Stopped
from autograder.release import release
from autograder.released import Released
from autograder.results import ExerciseResult
from autograder.statuses import DIED, TIMEOUT
from autograder.watch import PATIENCE, Ready, Watched, watch

RIGHT = {"double": "def double(x):\n    return x + x", "quadruple": "def quadruple(x):\n    return 4 * x"}
SQUARED = RIGHT | {"double": "def double(x):\n    return x * x"}
SQUARED_AGAIN = RIGHT | {"double": "def double(x):\n    return x ** 2"}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("course"))
    release(course, [])
    return (course.root / "exercises" / "01_numbers" / "hints.json").read_bytes()


@pytest.fixture
def notebook(released, tmp_path):
    (tmp_path / "hints.json").write_bytes(released)
    return tmp_path / "numbers.ipynb"


class Learner:
    """Saves a notebook, and reads what the watch says of it. Its clock goes on by hand."""

    def __init__(self, path, ready):
        self.path, self.now, self.saves, self._said = path, 0.0, 0, []
        self.watched = Watched(path, path.parent, ready, self._said.append)

    def save(self, content):
        self.saves += 1
        aside = self.path.with_name(".aside")
        aside.write_bytes(content)
        os.utime(aside, ns=(self.saves, self.saves))  # two saves within one tick of the file system's clock
        aside.replace(self.path)

    def reads(self, seconds=0.02):
        """What is said at the next look, `seconds` later."""
        self.now += seconds
        self.watched.look(self.now)
        said = "\n".join(self._said)
        self._said.clear()
        return said

    def saves_and_reads(self, content):
        self.save(content)
        return self.reads()


@pytest.fixture
def learner(notebook):
    with Ready() as ready:
        yield Learner(notebook, ready)


@pytest.fixture
def checks(monkeypatch):
    """In place of real checks: each notebook's exercises are right or not as its first cell says."""
    done = []

    def check(path, cells, course, attempts, begin=None):
        done.append(path.name)
        results = tuple(
            ExerciseResult("", "01", path.stem, f"e{number}", 0, 1, "passed" if mark == "+" else "failed")
            for number, mark in enumerate(cells[0].source)
        )
        released = Released(SourceNotebook("numbers", ()), "01_numbers", True, others=("second", "third"))
        return Checked(path, results, released, False)

    monkeypatch.setattr(watching, "check_cells", check)
    monkeypatch.setattr(Ready, "prepare", lambda *arguments: None)
    return done


def marks(text):
    return json.dumps({"cells": [own_cell(text)], "nbformat": 4}).encode()


# What is said


def test_first_everything_is_said_and_then_what_changed(learner):
    first = learner.saves_and_reads(handed_in(**SQUARED))
    assert "✗ double" in first
    assert "You square x" in first
    assert "✓ quadruple" in first
    assert "01_numbers: 1 of 2 right." in first
    then = learner.saves_and_reads(handed_in(**RIGHT))
    assert "✓ double" in then
    assert "quadruple" not in then
    assert "All 2 pass the checks that you can see. More run at grading" in then
    assert "01_numbers: 2 of 2 right." in then


def test_a_save_that_changes_no_verdict_is_answered_in_a_line(learner):
    learner.saves_and_reads(handed_in(**RIGHT))
    said = learner.saves_and_reads(handed_in(**RIGHT, after=(own_cell("1 + 1"),)))
    assert said.startswith("Nothing has changed.\n")
    assert "double" not in said
    assert "2 of 2" in said


def test_without_a_save_nothing_is_said_and_nothing_is_checked(learner, checks):
    learner.saves_and_reads(marks("+"))
    assert [learner.reads() for _ in range(5)] == [""] * 5
    assert checks == ["numbers.ipynb"]


def test_the_verdict_is_that_of_a_plain_check(learner):
    learner.saves_and_reads(handed_in(**RIGHT))
    learner.saves_and_reads(handed_in(**SQUARED))
    plain = check_notebook(learner.path, learner.path.parent, Attempts())
    assert learner.watched.checked.exercises == plain.exercises


def test_what_an_earlier_answer_defined_is_gone(learner):
    helped = RIGHT | {"double": "def twice(x):\n    return 2 * x\n\ndef double(x):\n    return twice(x)"}
    learner.saves_and_reads(handed_in(**helped))
    said = learner.saves_and_reads(handed_in(**RIGHT | {"double": "def double(x):\n    return twice(x)"}))
    assert "'twice' is not defined" in said


def test_hints_grow_with_each_new_answer_that_makes_the_same_mistake_and_not_with_each_save(learner):
    shown = "Try `double(np.array([1.0, -2.0, 5.0]))`: your answer gives [1, 4, 25]."
    assert shown not in learner.saves_and_reads(handed_in(**SQUARED))
    assert "Nothing has changed" in learner.saves_and_reads(handed_in(**SQUARED))
    assert shown in learner.saves_and_reads(handed_in(**SQUARED_AGAIN))
    learner.saves_and_reads(handed_in(**RIGHT))
    assert shown not in learner.saves_and_reads(handed_in(**SQUARED_AGAIN))


# Files as editors leave them


def test_a_half_written_file_is_waited_for(learner, checks):
    whole = marks("+-")
    for half in (b"", whole[:5], whole[:-1]):
        assert learner.saves_and_reads(half) == ""
        assert learner.reads(PATIENCE / 2) == ""
    assert "1 of 2" in learner.saves_and_reads(whole)


def test_a_file_that_stays_broken_is_told_once_and_checked_when_it_is_whole(learner, checks):
    assert learner.saves_and_reads(marks("+")[:-1]) == ""
    assert "not a notebook" in learner.reads(PATIENCE)
    assert learner.reads(PATIENCE) == ""
    assert "1 of 1" in learner.saves_and_reads(marks("+"))


def test_a_notebook_that_is_gone_is_told_once_and_checked_when_it_is_back(learner, checks):
    learner.saves_and_reads(marks("+"))
    learner.path.rename(learner.path.with_name("renamed.ipynb"))
    assert learner.reads() == ""
    assert learner.reads(PATIENCE) == f"{learner.path} is not there any more. It is checked again when it is back."
    assert learner.reads(PATIENCE) == ""
    assert "1 of 1" in learner.saves_and_reads(marks("+"))


def test_a_short_absence_is_not_told(learner, checks):
    learner.saves_and_reads(marks("+"))
    learner.path.unlink()
    assert learner.reads(PATIENCE / 2) == ""
    assert "not there" not in learner.saves_and_reads(marks("-"))


def test_a_file_that_may_not_be_read_is_told(learner, checks, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    learner.save(marks("+"))
    monkeypatch.setattr(watching, "read_cells", refuse)
    assert learner.reads() == ""
    assert "cannot be read: Permission denied." in learner.reads(PATIENCE)


def test_a_notebook_of_something_else_is_told_and_watched_on(learner):
    assert "no exercise of this course" in learner.saves_and_reads(marks("1"))
    assert "2 of 2" in learner.saves_and_reads(handed_in(**RIGHT))


# The chapter


def test_progress_counts_the_chapters_notebooks_that_lie_beside(learner, checks):
    learner.path.with_name("second.ipynb").write_bytes(marks("++-"))
    learner.path.with_name("stranger.ipynb").write_bytes(marks("--"))
    assert "01_numbers: 3 of 5 right." in learner.saves_and_reads(marks("+-"))
    assert "01_numbers: 4 of 5 right." in learner.saves_and_reads(marks("++"))
    assert checks == ["numbers.ipynb", "second.ipynb", "numbers.ipynb"]  # the other one was not saved


def test_another_notebook_that_was_saved_counts_anew_and_a_broken_or_missing_one_does_not(learner, checks):
    second = learner.path.with_name("second.ipynb")
    second.write_bytes(marks("--"))
    assert "0 of 3" in learner.saves_and_reads(marks("-"))
    second.write_bytes(marks("+++"))
    assert "3 of 4" in learner.saves_and_reads(marks("-"))
    second.unlink()
    assert "0 of 1" in learner.saves_and_reads(marks("-"))
    second.write_bytes(b"{")
    assert "0 of 1" in learner.saves_and_reads(marks("-"))


# The process that is kept ready


class Line:
    """In place of the link to a learner's process."""

    def __init__(self, process=None):
        self.process = process or Slow()
        self.ended = self.closed = False

    def run(self, source, label):
        if self.ended:
            raise Stopped(DIED, "ended")

    def close(self):
        self.closed = True


class Slow:
    """A process whose end takes long."""

    read = write = wait = None

    def __init__(self):
        self.killed, self.may_end, self.closed = False, threading.Event(), False

    def kill(self):
        self.killed = True

    def close(self):
        self.closed = self.may_end.wait(30)


@pytest.fixture
def started():
    return []


@pytest.fixture
def ready(started):
    def start(*kind):
        started.append((kind, Line()))
        return started[-1][1]

    with Ready(start) as ready:
        yield ready


def test_the_process_that_is_ready_is_taken_once(ready, started, tmp_path):
    ready.prepare(False, tmp_path)
    first = ready.take(False, tmp_path)
    assert len(started) == 1
    assert ready.take(False, tmp_path) is not first


def test_nobody_waits_for_the_end_of_a_process_that_has_done_its_work(started, tmp_path):
    slow = Slow()
    with Ready(lambda *kind: Line(slow)) as ready:
        ready.prepare(True, tmp_path)
        ready.take(True, tmp_path).process.close()
        assert slow.killed
        assert not slow.closed
        slow.may_end.set()
    assert slow.closed, "it is closed before the watch ends"


@pytest.mark.parametrize("other", [True, False])
def test_a_process_of_another_kind_is_not_taken(ready, started, tmp_path, other):
    ready.prepare(not other, tmp_path)
    ready.take(other, tmp_path)
    assert (other, tmp_path) in [kind for kind, _ in started]


def test_a_process_that_ended_while_it_waited_is_replaced(ready, started, tmp_path):
    ready.prepare(False, tmp_path)
    ready._next[2].result().ended = True
    assert ready.take(False, tmp_path) is started[1][1]
    assert started[0][1].closed


def test_a_start_that_failed_is_tried_once_more(tmp_path):
    failures = [Stopped(TIMEOUT, "slow")]

    def start(*kind):
        if failures:
            raise failures.pop()
        return Line()

    with Ready(start) as ready:
        ready.prepare(False, tmp_path)
        assert ready.take(False, tmp_path).ended is False


def test_at_the_end_no_process_is_left(started, tmp_path):
    def start(*kind):
        started.append(Line())
        return started[-1]

    with Ready(start) as ready:
        ready.prepare(False, tmp_path)
        ready._next[2].result()
        ready.prepare(False, tmp_path)
        ready._next[2].result()
    assert [process.closed for process in started] == [True, True]


# The command


def until(seconds, interrupted):
    yield from seconds
    if interrupted:
        raise KeyboardInterrupt


@pytest.mark.parametrize(("text", "right"), [("++", True), ("+-", False)])
def test_ctrl_c_ends_with_one_line(notebook, checks, text, right):
    notebook.write_bytes(marks(text))
    said = []
    assert watch(notebook, notebook.parent, said.append, until([0.0, 1.0], interrupted=True)) is right
    assert said[0].startswith(f"Watching {notebook}")
    assert said[-1] == f"\nNo longer watching {notebook}."


@pytest.mark.parametrize(
    ("notebooks", "words"), [(["nowhere.ipynb"], "no file"), (["a.ipynb", "b.ipynb"], "2 are named")]
)
def test_a_wrong_use_gets_one_clear_sentence(notebooks, words, capsys):
    assert main(["check", "--watch", *notebooks]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C is sent another way there")
def test_a_learner_saves_and_reads_in_a_terminal(notebook):
    notebook.write_bytes(handed_in(**SQUARED))
    command = [sys.executable, "-m", "autograder", "check", "--watch", str(notebook)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    lines = queue.Queue()
    reader = threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True)
    reader.start()

    def said_until(end):
        said = ""
        while end not in said:
            said += lines.get(timeout=60)
        return said

    try:
        assert "You square x" in said_until("1 of 2 right.")
        aside = notebook.with_name(".aside")
        aside.write_bytes(handed_in(**RIGHT))
        aside.replace(notebook)
        assert "✓ double" in said_until("2 of 2 right.")
        process.send_signal(signal.SIGINT)
        assert "No longer watching" in said_until("No longer")
        assert process.wait(60) == 0
    finally:
        process.kill()
