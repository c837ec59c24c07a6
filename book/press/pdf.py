"""Print the built book as one PDF: cover, contents with page numbers, chapters and exercises.

    python book/press/pdf.py [FOLDER]

Wants a book built by `book/build.py` in FOLDER (default: the repository) and a Chromium; writes
`_build/attention-step-by-step.pdf` there. The book is printed twice: the first time tells which page begins where.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import pikepdf
from paper import whole_book, with_numbers
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
NAME = "attention-step-by-step"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

NO_BOOK = "There is no book in {html}: build it first (make book)."
NO_BROWSER = "Printing needs Chromium. On Debian: sudo apt-get install chromium"


def print_book(folder: Path = ROOT) -> int:
    """Print the book that was built into `folder` and return the exit status: 2 where something is wanting."""
    html = folder / "_build" / "html"
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not (html / "index.html").exists():
        print(NO_BOOK.format(html=html), file=sys.stderr)
        return 2
    if browser is None:
        print(NO_BROWSER, file=sys.stderr)
        return 2
    document, pdf = folder / "_build" / "whole_book.html", folder / "_build" / f"{NAME}.pdf"
    whole = whole_book(html, [(Path(__file__).parent / "press.css").as_uri()])
    numbers: dict[str, int] = {}
    for _ in range(2):
        document.write_text(with_numbers(whole, numbers), encoding="utf-8")
        _print(browser, document, pdf)
        numbers = page_numbers(pdf)
    document.unlink()
    _pack(pdf)
    print(f"open {os.path.relpath(pdf)}")
    return 0


def page_numbers(pdf: Path) -> dict[str, int]:
    """The page on which each named place of a PDF lies, counted from one."""
    with pikepdf.open(pdf) as read:
        numbers = {page.obj.objgen: number for number, page in enumerate(read.pages, start=1)}
        return {name.lstrip("/"): numbers[place[0].objgen] for name, place in read.Root.Dests.items()}


def _pack(pdf: Path) -> None:
    """Write a PDF anew with its many small objects packed together: less than half of Chromium's size."""
    with pikepdf.open(pdf, allow_overwriting_input=True) as read:
        read.save(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def _print(browser: str, document: Path, pdf: Path) -> None:
    with sync_playwright() as playwright:
        # Without a sandbox of its own: it is often not to be had in a container, and reads this page alone.
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page(java_script_enabled=False, color_scheme="light")
        page.goto(document.resolve().as_uri(), timeout=180_000)
        page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
        chromium.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print the built book as one PDF.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=ROOT, help="default: the repository")
    sys.exit(print_book(parser.parse_args().folder))
