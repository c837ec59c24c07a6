"""Workers: every piece of work gets a result, whatever becomes of the process that does it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path

import pytest

from autograder import workers
from autograder.errors import UsageError
from autograder.limits import LIMITS
from autograder.workers import Failed, in_workers

done_here = 0


@dataclass
class Scripted:
    """A job whose items say what happens."""

    folder: Path
    refuses: bool = False

    def open(self):
        if self.refuses:
            raise UsageError("nothing can be graded here")

    def prepare(self, item):
        if item == "worker dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "prepares long":
            time.sleep(0.6)

    def do(self, item):
        global done_here
        done_here += 1
        if item == "dies":
            os._exit(7)
        if item == "dies once" and not (self.folder / "died").exists():
            (self.folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "raises":
            raise RuntimeError("a fault of ours")
        if item == "waits":
            (self.folder / "pid").write_text(str(os.getpid()))
            while not (self.folder / "freed").exists():
                time.sleep(0.01)
        if item == "memory":
            return resource.getrlimit(resource.RLIMIT_AS)[0]
        if item == "frees":
            (self.folder / "freed").touch()
        return item, done_here, os.getpid()


def results(folder, items, count=2, seconds=60.0):
    return dict(in_workers(Scripted(folder), items, count, seconds))


def test_every_item_is_done_in_a_process_of_its_own(tmp_path):
    came = results(tmp_path, [f"item {n}" for n in range(6)])
    assert {item: result[:2] for item, result in came.items()} == {f"item {n}": (f"item {n}", 1) for n in range(6)}
    assert len({result[2] for result in came.values()}) == 6


def test_items_are_taken_as_workers_come_free(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 60.0)
    taken = []

    def items():
        for number in range(6):
            taken.append(number)
            yield f"item {number}"

    coming = in_workers(Scripted(tmp_path), items(), 1, 60.0)
    next(coming)
    assert len(taken) == 2  # the second is being done
    coming.close()


@pytest.mark.parametrize("ending", ["dies", "worker dies"])
def test_a_process_that_dies_costs_its_own_item_alone(tmp_path, ending):
    came = results(tmp_path, ["one", ending, "two", "three"])
    assert isinstance(came.pop(ending), Failed)
    assert [result[0] for _, result in sorted(came.items())] == ["one", "three", "two"]


def test_what_died_once_is_tried_again(tmp_path):
    assert results(tmp_path, ["dies once", "other"])["dies once"][0] == "dies once"


def test_a_piece_of_work_has_a_limit_of_memory(tmp_path):
    """What a test makes of a huge result, or a callback of huge arguments, must not be taken from everybody."""
    assert results(tmp_path, ["memory"]) == {"memory": LIMITS.torch_memory_bytes}


def test_an_error_of_ours_is_said(tmp_path):
    assert "RuntimeError: a fault of ours" in str(results(tmp_path, ["raises"])["raises"])


def test_what_takes_too_long_is_ended(tmp_path):
    came = results(tmp_path, ["waits", "one"], seconds=3.0)
    assert "longer than 3 seconds" in str(came["waits"])
    assert came["one"][0] == "one"


def test_what_is_slow_holds_up_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    came = results(tmp_path, ["waits", "frees"], count=1)
    assert came["waits"][0] == "waits"


def test_imports_are_no_slowness_for_which_more_workers_start(tmp_path, monkeypatch):
    """On a busy machine they took longer than our patience, and each further worker imported once more."""
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    started = []
    monkeypatch.setattr(workers, "_start", lambda job, start=workers._start: started.append(start(job)) or started[-1])
    came = results(tmp_path, [f"item {n}" for n in range(4)] + ["prepares long"], count=1)
    assert came["prepares long"][0] == "prepares long"
    assert len(started) == 1


def test_pieces_at_the_same_time_are_on_different_cores():
    *others, last = os.sched_getaffinity(0)
    busy = [workers._Worker(None, None, core=core) for core in others]
    assert workers._least_busy_core(busy) == last


def test_a_worker_whose_run_was_killed_ends_without_a_word(tmp_path):
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", workers.PROGRAM, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stderr=subprocess.PIPE,
        )
    ours.send(Scripted(tmp_path))
    ours.send(("one", None))
    assert ours.poll(60)
    ours.close()  # with something unread: the worker's line is reset, not only closed
    assert process.communicate(timeout=60)[1] == b""


def test_a_job_that_cannot_begin_says_why(tmp_path):
    with pytest.raises(UsageError, match="nothing can be graded here"):
        list(in_workers(Scripted(tmp_path, refuses=True), ["one"], 2, 60.0))


def test_no_process_is_left(tmp_path):
    coming = in_workers(Scripted(tmp_path), ["one", "waits", "two"], 2, 60.0)
    next(coming)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        time.sleep(0.01)
    coming.close()
    status = Path(f"/proc/{pid.read_text()}/stat")
    for _ in range(100):  # the system may take a moment to clear it away
        if not status.exists() or status.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the fork still runs")
