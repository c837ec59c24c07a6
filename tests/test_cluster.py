"""A Dask cluster grades as one machine does, and loses nothing with a worker that it loses."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from made_up import handed_in, make_course

from autograder import cluster
from autograder.__main__ import main

pytestmark = pytest.mark.slow

KINDS = [
    handed_in(double="def double(x):\n    return 2 * x"),
    handed_in(double="def double(x):\n    return x ** 2"),
    handed_in(double="import os; os._exit(1)"),
    b"<html>",
    handed_in(),
]
STUDENTS = 20


@pytest.fixture(scope="module")
def course(tmp_path_factory, sandbox):
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    assert main(["--course", str(root), "release"]) == 0
    for number in range(STUDENTS):
        folder = root / "class" / f"student {number:02}" / "01_numbers"
        folder.mkdir(parents=True)
        (folder / "numbers.ipynb").write_bytes(KINDS[number % len(KINDS)])
    return root


class Cluster:
    """A scheduler and two workers on the loopback, each a program of its own."""

    def __init__(self, folder):
        self.folder = folder
        scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        log = folder / "scheduler.log"
        while not (found := re.search(r"tcp://127\.0\.0\.1:\d+", log.read_text())):
            assert scheduler.poll() is None, log.read_text()
            time.sleep(0.1)
        self.address = found[0]
        self.workers = [
            self._start("worker", self.address, "--nthreads", "1", "--local-directory", str(folder / f"worker{n}"))
            for n in range(2)
        ]
        self.processes = [scheduler, *self.workers]

    def _start(self, kind, *arguments):
        with (self.folder / f"{kind}.log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def close(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def running(tmp_path):
    started = Cluster(tmp_path)
    yield started
    started.close()


def written(out):
    return {p.relative_to(out): p.read_bytes() for p in sorted(out.rglob("*")) if p.suffix in (".csv", ".html")}


def grade(course, out, *more):
    return main(["--course", str(course), "grade", str(course / "class"), "--out", str(out), *more])


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(course, running, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "SHARD", 3)
    taken = []

    def killing(future, shard):
        if not taken:
            os.killpg(running.workers[0].pid, signal.SIGKILL)
        taken.append(shard)
        return results(future, shard)

    results = cluster._results
    monkeypatch.setattr(cluster, "_results", killing)
    assert grade(course, tmp_path / "local") == 0
    assert grade(course, tmp_path / "spread", "--scheduler", running.address) == 0
    assert sum(map(len, taken)) == STUDENTS
    assert written(tmp_path / "spread") == written(tmp_path / "local")


def test_where_no_scheduler_answers_that_is_said(course, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    assert grade(course, tmp_path / "nowhere", "--scheduler", "tcp://127.0.0.1:9") == 2
    errors = capsys.readouterr().err
    assert "tcp://127.0.0.1:9: no Dask scheduler answers" in errors
    assert "Traceback" not in errors


def test_a_worker_of_another_version_or_with_other_walls_grades_nothing(course):
    from dataclasses import replace

    from autograder.course import Course
    from autograder.errors import UsageError
    from autograder.job import GradeJob
    from autograder.sandbox import find_sandbox

    assignment = Course(course).assignment("01_numbers")
    sandbox, _ = find_sandbox()
    job = GradeJob({assignment.name: assignment}, {assignment.name: None}, sandbox)
    with pytest.raises(UsageError, match="version 0"):
        cluster.grade_shard(job, (), 1.0, "0")
    other = replace(job, sandbox=replace(sandbox, description="thicker walls"))
    with pytest.raises(UsageError, match="thicker walls"):
        cluster.grade_shard(other, (), 1.0, cluster.__version__)
