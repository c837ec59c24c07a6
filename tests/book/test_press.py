"""Claims about the book as one PDF and as one zip."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import archive
import paper
import pdf
import pypdf
import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]

PAGE = """<!doctype html><html lang="en"><head><link rel="next" href="{next}"><link rel="stylesheet" href="../_static/book.css"></head><body>
<nav class="bd-docs-nav"><ul><li><a href="#">Small book</a></li></ul><p class="caption">Part</p>
<ul><li><a href="two.html">Two</a><details><summary>open</summary><ul><li><a href="../exercises/x.html">Tasks</a></li></ul></details></li></ul>
</nav><article class="bd-article">{text}</article></body></html>"""


@pytest.fixture
def small(tmp_path):
    """A built book of three pages, in whose folder a PDF and a zip can be made."""
    html = tmp_path / "_build" / "html"
    for name, following, text in (
        (
            "book/index.html",
            "two.html",
            "<h1>Small book<a class='headerlink'>#</a></h1><p><a href='two.html#deep'>there</a></p>",
        ),
        (
            "book/two.html",
            "../exercises/x.html",
            "<h1>Two</h1><h2 id='deep'>Deep</h2><details><p>Folded words</p></details>",
        ),
        ("exercises/x.html", "", "<h1>Tasks</h1><p id='deep'>Do it. <a href='https://example.org/'>Away</a></p>"),
    ):
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        page = PAGE.format(next=following, text=text)
        (html / name).write_text(page if following else page.replace('<link rel="next" href="">', ""), encoding="utf-8")
    (html / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=book/index.html">', encoding="utf-8")
    (html / "_static").mkdir()
    shutil.copy(ROOT / "book" / "assets" / "logo.svg", html / "_static")
    shutil.copy(ROOT / "book" / "assets" / "print.css", html / "_static" / "book.css")
    return tmp_path


def print_in(folder: Path) -> Path:
    """The PDF of the book in `folder`, made as `make pdf` does: one process cannot run two Playwrights."""
    if not any(map(shutil.which, pdf.BROWSERS)):
        pytest.skip("no Chromium here: sudo apt-get install chromium")
    command = [sys.executable, str(ROOT / "book" / "press" / "pdf.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    return folder / "_build" / "attention-step-by-step.pdf"


def test_a_small_book_is_printed_with_the_pages_that_its_contents_name(small):
    printed = print_in(small)
    read = pypdf.PdfReader(printed)
    words = [page.extract_text() for page in read.pages]
    assert len(words) == 5, "cover, contents, three pages"
    assert "Small book" in words[0]
    assert re.search(r"Small book\s*3\s*Part\s*Two\s*4\s*Tasks\s*5", words[1])
    assert "Folded words" in words[3]
    assert [page.get("/Annots") is not None for page in read.pages] == [False, True, True, False, True], (
        "links are links"
    )


def test_the_pages_of_the_book_become_one_document_whose_links_lead_somewhere(html):
    whole = BeautifulSoup(
        paper.with_numbers(paper.whole_book(html, ["press.css"]), {"book-03_scores": 70}), "html.parser"
    )
    ids = [element["id"] for element in whole.find_all(id=True)]
    assert len(ids) == len(set(ids))
    links = [link["href"] for link in whole.find_all("a", href=True)]
    assert not [link for link in links if link.startswith("#") and link[1:] not in ids]
    assert not [link for link in links if not link.startswith(("#", "https://", "http://"))]
    leaves = [leaf["id"] for leaf in whole.select(".book-page[id]")]
    assert leaves[0] == "book-index"
    assert leaves.index("book-03_scores") + 1 == leaves.index("exercises-03_scores-scores")
    entry = whole.select_one(".book-contents a[href='#book-03_scores']")
    assert entry.get_text().strip().endswith("70")
    assert not whole.select("script, button, .headerlink, .where-to-do-it")
    sheets = [link["href"] for link in whole.select("link[rel=stylesheet]")]
    assert sheets[-1] == "press.css"
    wanted = {"html/_static/book.css", "html/_static/live/live.css", "html/_static/in_page/in_page.css"}
    assert wanted <= set(sheets), "what any page looks by"
    assert not [sheet for sheet in sheets[:-1] if not (html.parent / sheet).is_file()]


def test_the_same_book_makes_the_same_zip_and_it_holds_what_pages_load(small):
    assert archive.pack(small) == 0
    file = small / "_build" / "attention-step-by-step.zip"
    first = file.read_bytes()
    assert archive.pack(small) == 0
    assert file.read_bytes() == first
    with zipfile.ZipFile(file) as packed:
        assert packed.testzip() is None
        assert {"index.html", "book/two.html", "exercises/x.html", "_static/book.css"} <= {
            name.removeprefix("attention-step-by-step/") for name in packed.namelist()
        }


def test_an_unpacked_zip_lacks_nothing_that_a_page_names(html, pages):
    assert archive.pack(html.parents[1]) == 0
    with zipfile.ZipFile(html.parent / "attention-step-by-step.zip") as packed:
        names = {name.removeprefix("attention-step-by-step/") for name in packed.namelist()}
    assert pages.keys() <= names
    for name, page in pages.items():
        for element in page.find_all(["script", "link", "img"]):
            address = element.get("src") or element.get("href") or ""
            if address and not address.startswith(("data:", "#")):
                path = (Path(name).parent / address.partition("?")[0]).as_posix()
                assert posixpath.normpath(path) in names, (name, address)


@pytest.mark.parametrize("make", [pdf.print_book, archive.pack])
def test_without_a_book_it_says_what_to_do(make, tmp_path, capsys):
    assert make(tmp_path) == 2
    assert "make book" in capsys.readouterr().err
