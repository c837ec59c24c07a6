"""What many tests share."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # made_up, the small course

from autograder import limits
from autograder.processes import LearnerProcess
from autograder.sandbox import find_sandbox, start
from autograder.warm import WarmServers

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def state_folder(tmp_path_factory, monkeypatch):
    """A folder of the test's own for what `autograder check` remembers, in place of the user's."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def sandbox():
    """The sandbox of this machine; the test is skipped where there is none."""
    found, reason = find_sandbox()
    if found is None:
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A Chromium of this machine; without one the test is skipped.

    One for all tests of a process: Playwright starts once in a process and not again while it runs.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium here: sudo apt-get install chromium")
    with playwright.sync_playwright() as started:
        # Without a sandbox of its own: it is often not to be had in a container, and reads these pages alone.
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = started.chromium.launch(executable_path=found, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def warm(sandbox) -> Iterator[WarmServers]:
    """Warm servers for all tests of a process."""
    servers = WarmServers(sandbox)
    servers.prepare(with_torch=False)
    yield servers
    servers.close()


@pytest.fixture(params=["forked", "started"])
def start_learner(request, sandbox, warm) -> Callable[[bool], LearnerProcess]:
    """How a learner's process begins: each test runs with both ways."""
    return warm.start if request.param == "forked" else partial(start, sandbox)


@pytest.fixture
def short_limits(monkeypatch):
    """Time limits of two seconds, so that a loop without end costs a test no more."""
    short = dataclasses.replace(limits.LIMITS, cell_seconds=2.0)
    for module in ("link", "examiner"):
        monkeypatch.setattr(f"autograder.{module}.LIMITS", short)
    return short
