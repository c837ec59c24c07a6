"""Whatever ends a run, the next one goes on where it stopped, and ends with the same bytes."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT
from made_up import handed_in, make_course

from autograder.__main__ import main

STUDENTS = 24
KILLS = 8
RIGHT = "def double(x):\n    return 2 * x"
WRONG = "def double(x):\n    return x ** 2"
QUADRUPLE = "def quadruple(x):\n    return double(double(x))"


@pytest.fixture(scope="module")
def course(tmp_path_factory, sandbox):
    """A course with a class whose work takes every way through the grader."""
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    assert main(["--course", str(root), "release"]) == 0
    kinds = [
        handed_in(double=RIGHT, quadruple=QUADRUPLE),
        handed_in(double=WRONG, quadruple=QUADRUPLE),
        handed_in(double="def double(x):\n    raise KeyError('x')"),
        handed_in(double="import os; os._exit(1)"),
        b"<html>",
        handed_in(),
    ]
    for number in range(STUDENTS):
        folder = root / "class" / f"student {number:02}" / "01_numbers"
        folder.mkdir(parents=True)
        (folder / "numbers.ipynb").write_bytes(kinds[number % len(kinds)])
    return root


def start(course, out, *more, limit=None):
    """`autograder grade` as a teacher starts it; `limit`: the largest file, in bytes, that it can write."""

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "autograder",
            "--course",
            str(course),
            "grade",
            str(course / "class"),
            "--out",
            str(out),
            *more,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=small_disk if limit else None,
    )


@contextmanager
def at_work(run, out):
    """Within it the run stands still, in the middle of its work."""
    journal = out / "journal.jsonl"
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 1):
        assert run.poll() is None, "it ended without a result"
        time.sleep(0.002)
    run.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        run.send_signal(signal.SIGCONT)


def finish(course, out, *more):
    run = start(course, out, *more)
    printed, errors = run.communicate(timeout=300)
    assert run.returncode == 0, errors
    return printed


def written(out):
    """Every file for people, by name; and what the gradebook holds, whose own ids are drawn anew each time."""
    from nbgrader.api import Gradebook

    files = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.suffix in (".csv", ".html")}
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as gradebook:
        grades = sorted(
            (s.student.id, grade.name, grade.auto_score, grade.needs_manual_grade)
            for s in gradebook.assignment_submissions("01_numbers")
            for notebook in s.notebooks
            for grade in notebook.grades
        )
    return files, grades


@pytest.fixture(scope="module")
def undisturbed(course):
    finish(course, course / "undisturbed", "--jobs", "2")
    return written(course / "undisturbed")


@pytest.mark.slow
def test_killed_at_random_points_it_ends_with_the_same_bytes(course, undisturbed):
    out = course / "killed"
    chance = random.Random(4)
    known = 0
    for _ in range(KILLS):
        run = start(course, out, "--jobs", "2")
        time.sleep(chance.uniform(0.2, 2.5))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        lines = (out / "journal.jsonl").read_bytes().count(b"\n") if (out / "journal.jsonl").exists() else 0
        assert lines >= known, "a result that was known is lost"
        known = lines
    finish(course, out)
    assert written(out) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["grades.csv", "gradebook.db", "report.html"])
def test_killed_while_it_writes_it_ends_with_the_same_bytes(course, undisturbed, moment):
    out = course / f"killed at {moment}"
    run = start(course, out)
    while not (out / moment).exists():
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    finish(course, out)
    assert written(out) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "5"])
def test_the_number_of_workers_changes_nothing(course, undisturbed, jobs):
    out = course / f"{jobs} jobs"
    finish(course, out, "--jobs", jobs)
    assert written(out) == undisturbed


@pytest.mark.slow
def test_a_worker_that_the_system_kills_costs_nothing(course, undisturbed):
    out = course / "worker killed"
    run = start(course, out, "--jobs", "2")
    with at_work(run, out):
        workers = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        os.kill(int(workers[-1]), signal.SIGKILL)
    assert run.wait(timeout=300) == 0
    assert written(out) == undisturbed


@pytest.mark.slow
def test_of_two_runs_at_once_the_second_is_told_and_takes_nothing(course, undisturbed):
    out = course / "twice"
    first = start(course, out)
    with at_work(first, out):
        second = start(course, out)
        _, errors = second.communicate(timeout=300)
    assert second.returncode == 2
    assert "Traceback" not in errors
    assert "journal.jsonl" in errors
    assert first.wait(timeout=300) == 0
    assert written(out) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("limit", [2_000, 20_000, 120_000])
def test_on_a_full_disk_it_says_so_and_the_next_run_goes_on(course, undisturbed, limit):
    out = course / f"full at {limit}"
    run = start(course, out, limit=limit)
    _, errors = run.communicate(timeout=300)
    assert run.returncode == 2, errors
    assert "Traceback" not in errors
    assert str(out) in errors
    finish(course, out)
    assert written(out) == undisturbed
