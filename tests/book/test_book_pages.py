"""Claims about the built pages, each read as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from fontTools.ttLib import TTFont

from autograder.statuses import STATUSES

ROOT = Path(__file__).resolve().parents[2]

# What a browser fetches by itself when it shows a page; a link is followed by a reader, or not.
LOADED = {
    "script": "src",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "link": "href",
    "image": "href",
    "use": "href",
}


def loads(page: BeautifulSoup) -> Iterator[str]:
    for tag, attribute in LOADED.items():
        for element in page.find_all(tag):
            if element.get(attribute) and not {"prev", "next", "index", "search"} & set(element.get("rel", ())):
                yield element[attribute]


def exercise_pages(pages: dict[str, BeautifulSoup]) -> dict[str, BeautifulSoup]:
    found = {name: page for name, page in pages.items() if name.startswith("exercises/")}
    assert found, "there are exercises in the book"
    return found


def test_every_link_inside_the_book_leads_somewhere(html, pages):
    ids = {name: {e["id"] for e in page.find_all(id=True)} for name, page in pages.items()}
    lost = []
    for name, page in pages.items():
        for link in page.find_all("a", href=True):
            url = urlsplit(link["href"])
            if url.scheme or url.netloc or link["href"] == "#":
                continue
            target = (html / PurePosixPath(name).parent / unquote(url.path)).resolve() if url.path else html / name
            if not target.is_file() or (
                url.fragment and unquote(url.fragment) not in ids[target.relative_to(html).as_posix()]
            ):
                lost.append(f"{name}: {link['href']}")
    assert not lost


def test_no_page_loads_anything_from_another_host(pages):
    elsewhere = [f"{n}: {url}" for n, page in pages.items() for url in loads(page) if re.match(r"(https?:)?//", url)]
    assert not elsewhere


def test_everything_a_page_loads_is_there(html, pages):
    missing = [
        f"{name}: {url}"
        for name, page in pages.items()
        for url in loads(page)
        if not url.startswith(("data:", "#")) and not (html / PurePosixPath(name).parent / urlsplit(url).path).is_file()
    ]
    assert not missing


def test_no_style_sheet_loads_anything_from_another_host(html):
    for sheet in html.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_every_picture_has_words_or_is_an_ornament(pages):
    silent = []
    for name, page in pages.items():
        silent += [f"{name}: {image}" for image in page.find_all("img") if image.get("alt") is None]
        for svg in page.find_all("svg"):
            spoken = svg.get("role") == "img" and svg.get("aria-label", "").strip()
            if not spoken and svg.get("aria-hidden") != "true":
                silent.append(f"{name}: {str(svg)[:200]}")
    assert not silent


def test_every_figure_has_a_caption(pages):
    for name, page in pages.items():
        for figure in page.select("figure.drawn"):
            assert figure.figcaption.get_text(strip=True), name


def test_a_page_loads_the_scripts_of_its_live_figures_and_no_other_page_does(pages):
    used = set()
    for name, page in pages.items():
        kinds = {figure["data-live"] for figure in page.select("figure.live")}
        loaded = {PurePosixPath(urlsplit(url).path).stem for url in loads(page) if "/live/" in url}
        assert loaded == (kinds | {"numbers", "figure", "live"} if kinds else set()), name
        used |= kinds
    scripts = {script.stem for script in (ROOT / "book/assets/live").glob("*.js")}
    assert used == scripts - {"numbers", "figure"}, "each kind has its place in the book"


def test_formulas_are_mathml_and_none_is_left_in_latex(pages):
    formulas = [math for page in pages.values() for math in page.find_all("math")]
    assert len(formulas) > 10
    for name, page in pages.items():
        assert not page.select(".katex-error, .MathJax"), name
        words = (
            " ".join(text for text in page.article.find_all(string=True) if not _hidden(text)) if page.article else ""
        )
        assert "$$" not in words, name
        assert "\\frac" not in words, name


def _hidden(text: Tag) -> bool:
    """Whether this text is not prose: code, and the LaTeX that KaTeX leaves for those who copy a formula."""
    return text.find_parent(["annotation", "pre", "code", "script", "svg"]) is not None


def test_each_page_has_one_title(pages):
    for name, page in pages.items():
        if page.article and name != "index.html":
            assert len(page.article.find_all("h1")) == 1, name


def test_the_first_page_calls_chapters_what_they_call_themselves(pages):
    for stage in pages["book/index.html"].select("ol.way .stage-title"):
        link = stage.find("a")
        if link is None:
            assert stage.get_text().endswith("(to come)")
        else:
            words = pages[f"book/{link['href']}"].article.h1.find_all(string=True)
            title = "".join(w for w in words if not w.find_parent(class_=["section-number", "headerlink"]))
            assert link.get_text(strip=True) == title.strip()


def test_chapters_are_numbered_in_the_order_of_the_first_page(pages):
    links = pages["book/index.html"].select("ol.way .stage-title a")
    for number, link in enumerate(links, start=1):
        assert pages[f"book/{link['href']}"].select_one("h1 .section-number").get_text(strip=True) == f"{number}."


def test_korean_words_say_that_they_are_korean(pages):
    glossary = pages["book/glossary.html"]
    term = glossary.find("dt", id=True, string=re.compile("attention")) or glossary.find(id="term-attention")
    assert term is not None
    for text in glossary.article.find_all(string=re.compile("[가-힣]")):
        assert text.find_parent(attrs={"lang": "ko"}) is not None, text


def test_the_page_about_exercises_explains_every_status(pages):
    rows = {
        cells[0].get_text(strip=True): cells[1].get_text(strip=True)
        for row in pages["book/how_to_exercise.html"].find_all("tr")
        if len(cells := row.find_all("td")) == 3
    }
    assert rows == {status.name: status.meaning for status in STATUSES.values()}


def test_an_exercise_page_labels_each_cell_with_what_it_is_for(pages):
    for name, page in exercise_pages(pages).items():
        notebook = json.loads((ROOT / name).with_suffix(".ipynb").read_text(encoding="utf-8"))
        graded = [cell["metadata"]["nbgrader"] for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
        code = [m for m in graded if m.get("solution") or m.get("grade")]
        assert len(page.select(".answer-cell")) == sum(bool(m["solution"]) for m in code), name
        assert len(page.select(".check-cell")) == sum(bool(m["grade"]) for m in code), name
        for cell in page.select(".answer-cell, .check-cell, .given-cell"):
            assert cell.select_one(".cell-label").get_text(strip=True), name


def test_an_exercise_page_offers_its_notebook_as_it_is(html, pages):
    for name, page in exercise_pages(pages).items():
        link = page.select_one(".where-to-do-it a[download]")
        offered = html / PurePosixPath(name).parent / link["href"]
        assert offered.read_bytes() == (ROOT / name).with_suffix(".ipynb").read_bytes()


def places(page: BeautifulSoup) -> dict[str, str]:
    """The addresses in the menus at the top of a page, by their words."""
    return {link.get_text(strip=True): link["href"] for link in page.select(".page-menu a")}


def is_notebook(name: str) -> bool:
    return (ROOT / name).with_suffix(".ipynb").is_file()


def test_each_page_has_the_menus_that_are_right_for_it(pages):
    for name, page in pages.items():
        if page.article is None or name in ("index.html", "genindex.html"):
            continue
        notebook, exercise = is_notebook(name), name.startswith("exercises/")
        offered = set(places(page))
        download = "Download the notebook without answers" if exercise else "Download the notebook"
        assert ({"Open in Colab", "Open in Binder", download} <= offered) == notebook, name
        assert ("Suggest an edit" in offered) != exercise, "what release makes is not edited by hand"
        assert {"Repository", "Report a mistake"} <= offered, name


def test_colab_opens_the_notebook_of_the_page_with_a_cell_that_fetches_the_course(html, pages):
    for name, page in pages.items():
        for link in page.find_all("a", href=re.compile("colab.research")):
            path = link["href"].split("/blob/colab/", 1)[1]
            assert path == PurePosixPath(name).with_suffix(".ipynb").as_posix()
            opened = json.loads((html.parent / "colab" / path).read_text(encoding="utf-8"))
            source = json.loads((ROOT / path).read_text(encoding="utf-8"))
            first = opened["cells"].pop(0)["source"]
            assert f"git clone --quiet --depth 1 --branch main {places(page)['Repository']} " in first
            assert first.endswith(f"course/{PurePosixPath(path).parent}")
            assert [cell["id"] for cell in opened["cells"]] == [cell["id"] for cell in source["cells"]]


def test_binder_and_the_repository_open_the_source_of_the_page(pages):
    for name, page in pages.items():
        for words, address in places(page).items():
            if words == "Open in Binder":
                path = address.split("urlpath=lab%2Ftree%2F", 1)[1].replace("%2F", "/")
                assert path == PurePosixPath(name).with_suffix(".ipynb").as_posix()
            if words == "Suggest an edit":
                assert (ROOT / address.split("/edit/main/", 1)[1]).is_file(), name


def test_the_head_of_a_chapter_counts_its_exercises_and_the_minutes(pages):
    chapters = {name: page for name, page in pages.items() if re.match(r"book/\d\d_", name)}
    assert len(chapters) >= 7
    for name, page in chapters.items():
        head = page.select_one("h1 + .chapter-head")
        minutes = int(re.match(r"About (\d+) minutes to read", head.get_text())[1])
        assert 10 <= minutes <= 90, name
        assert "What you need before" in page.article.get_text(), name
        below = [p for p in pages if p.startswith(f"exercises/{PurePosixPath(name).stem}/")]
        answers = sum(len(pages[p].select(".answer-cell")) for p in below)
        assert answers == (int(re.search(r"(\d+) exercises", head.get_text())[1]) if answers else 0), name


PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def test_every_part_of_a_formula_has_as_many_parts_as_it_must(pages):
    for name, page in pages.items():
        for part in page.select("math " + ", math ".join(PARTS)):
            assert len(part.find_all(recursive=False)) == PARTS[part.name], (name, str(part))


def test_a_formula_keeps_its_comma(pages):
    loose = []
    for name, page in pages.items():
        for formula in page.select("article span.math"):
            after = formula.next_sibling
            if formula.parent.get("class") != ["stays-together"] and isinstance(after, str):
                loose += [f"{name}: {formula.annotation.get_text()}{after[:10]}"] * bool(re.match(r"[,.;:!?)]", after))
    assert not loose


def test_the_font_of_formulas_has_every_sign_that_a_formula_shows(html, pages):
    drawn = TTFont(html / "_static" / "STIXTwoMath.woff").getBestCmap()
    formulas = [formula for page in pages.values() for formula in page.find_all("math")]
    signs = {sign for formula in formulas for part in formula.find_all(["mi", "mo", "mn"]) for sign in part.get_text()}
    assert any(formula.msqrt for formula in formulas)
    signs.add("√")  # of msqrt: no page names it
    assert not {sign for sign in signs if ord(sign) not in drawn and sign.isprintable() and not sign.isspace()}


def test_a_page_is_light_before_anyone_clicks(html, pages):
    for name, page in pages.items():
        files = {
            (html / PurePosixPath(name).parent / urlsplit(url).path).resolve()
            for url in loads(page)
            if url[:5] != "data:"
        }
        files |= {html / name, html / "_static" / "STIXTwoMath.woff"}
        assert len(files) <= 25, name
        assert sum(file.stat().st_size for file in files) < 1_200_000, name


def test_the_bundles_hold_what_the_pages_need_and_little_more(html):
    styles = (html / "_static" / "book.css").read_text(encoding="utf-8")
    assert "Licensed under MIT" in styles, "licences stay"
    for rule in (
        ".page-menu",
        "article.bd-article",
        ".admonition",
        "STIXTwoMath.woff",
        "@media print",
        ".highlight .k",
    ):
        assert rule.removeprefix("article") in styles, rule
    assert ".carousel" not in styles
    assert len(styles) < 150_000
    script = (html / "_static" / "book.js").read_text(encoding="utf-8")
    assert (
        script.index("DOCUMENTATION_OPTIONS =")
        < script.index("sphinxToggleRunWhenDOMLoaded")
        < script.index("course:read:")
    )


def test_no_answer_and_no_hidden_test_reaches_the_book(html):
    for file in [*html.rglob("*.html"), *html.rglob("*.ipynb"), *html.rglob("*.js")]:
        if "_static" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert "BEGIN SOLUTION" not in text, file.name
            assert "BEGIN HIDDEN" not in text, file.name
