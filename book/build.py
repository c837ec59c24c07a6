"""Build the book: every page is run, and a warning is an error.

    python book/build.py [FOLDER] [--verbose]

The pages come to lie in `_build/html` under FOLDER (default: the repository), the cache of pages that have
been run beside them. A FOLDER that is empty builds everything anew. What exercises in the page need is fetched
first (in_page/fetch.py). Says a line for each page; the whole log is shown when the build fails, and as it comes
with --verbose.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from in_page.fetch import fetch

ROOT = Path(__file__).resolve().parent.parent

# What Sphinx writes to its log, and what tells of colours in it.
COLOUR = re.compile(r"\x1b\[[\d;]*m")
TOTAL = re.compile(r"updating environment: .*?(\d+) added, (\d+) changed")
READING = re.compile(r"reading sources\.\.\. \[ *\d+%\] (\S+)")
RUN = re.compile(r"Executed notebook in ([\d.]+) seconds")
ALL_READ, WRITING = "looking for now-outdated files", "preparing documents"


def build(folder: Path = ROOT, verbose: bool = False) -> int:
    """Build into `folder` and return the exit status: 0 when there was no warning."""
    jupyter_book = "from jupyter_book.cli.main import main; main(prog_name='jupyter-book')"
    options = ["-W", "-n", "--keep-going"]  # all warnings, references that lead nowhere too, and not only the first
    command = [sys.executable, "-u", "-c", jupyter_book, "build", str(ROOT), "--path-output", str(folder), *options]
    # The theme copies its logo even after a build that failed, and then to a file of the folder's name.
    (folder / "_build" / "html" / "_static").mkdir(parents=True, exist_ok=True)
    # Small products: on a busy machine several threads wait for each other, and pages that time them mislead.
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    log: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | one_thread,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        lines = _kept(process.stdout or (), log)
        for line in lines if verbose else progress(lines):
            print(line, flush=True)
    if not process.returncode:
        print(f"open {os.path.relpath(folder / '_build' / 'html' / 'index.html')}")
    elif not verbose:
        print("The build failed. Its whole log:", *log, sep="\n")
    return process.returncode


def progress(log: Iterable[str]) -> Iterator[str]:
    """What to say of a build, from its log: a line for each page, with the seconds that it ran."""
    total, number, page, ran = 0, 0, "", ""
    for line in log:
        reading = READING.match(line)
        if page and (reading or line.startswith(ALL_READ)):
            yield f"page {number} of {total}: {page}{ran}"
            page, ran = "", ""
        if reading:
            page, number = reading[1], number + 1
        elif seconds := RUN.search(line):
            ran = f", run in {float(seconds[1]):.1f} s"
        elif pages := TOTAL.match(line):
            total = int(pages[1]) + int(pages[2])
        elif line.startswith(WRITING):
            yield "writing all pages"


def _kept(lines: Iterable[str], log: list[str]) -> Iterator[str]:
    """The lines without colours and ends, each also put into `log`."""
    for line in lines:
        log.append(COLOUR.sub("", line).rstrip())
        yield log[-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the book. Every page is run, and a warning is an error.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=ROOT, help="default: the repository")
    parser.add_argument("--verbose", action="store_true", help="show the whole log as it comes")
    arguments = parser.parse_args()
    for line in fetch():
        print(line, flush=True)
    sys.exit(build(**vars(arguments)))
