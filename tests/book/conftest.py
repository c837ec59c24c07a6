"""The built book, once for all its tests, and a browser to read it with."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))  # course_site, the book's extension
sys.path.insert(0, str(ROOT / "book" / "press"))  # pdf and archive, which print and pack it

BUILT = "COURSE_BOOK"  # a folder of built pages, to test it as it is


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever reads the built pages waits for the build, and is slow."""
    for item in items:
        if "html" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of pages: the one that `COURSE_BOOK` names, or a build from an empty cache without a warning."""
    if os.environ.get(BUILT):
        return Path(os.environ[BUILT]).resolve()
    # Several workers come here: they share one build.
    shared = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    folder = shared / "built_book"
    done = folder / "done"
    with FileLock(shared / "built_book.lock"):
        if not done.exists():
            command = [sys.executable, str(ROOT / "book" / "build.py"), str(folder)]
            built = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            assert built.returncode == 0, f"the book does not build without a warning:\n{built.stdout}{built.stderr}"
            done.touch()
    return folder / "_build" / "html"


@pytest.fixture(scope="session")
def pages(html: Path) -> dict[str, BeautifulSoup]:
    """Every page, by its path."""
    return {
        path.relative_to(html).as_posix(): BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in sorted(html.rglob("*.html"))
        if "_static" not in path.parts
    }


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    """The address of a server that shows the book to this machine alone."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
