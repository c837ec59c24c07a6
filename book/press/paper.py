"""The pages of the built book, in their order, as one document to print: cover, contents, chapters, exercises."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from bs4 import BeautifulSoup, Tag

# What a page has for those who read it on a screen.
ON_SCREEN = ".headerlink, .where-to-do-it, .so-far, details.hide, script, noscript, button"
POINTS = ("href", "xlink:href", "aria-labelledby", "aria-describedby", "for")  # attributes that name ids
IN_STYLE = re.compile(r"url\(['\"]?#([^)'\"]+)['\"]?\)")

NUMBER = re.compile(r'<span data-page-of="([^"]+)"></span>')

CONTENTS = "Contents"


def whole_book(html: Path, styles: Iterable[str]) -> str:
    """All pages below `html` as one page, to lie beside that folder; `with_numbers` completes its contents.

    It loads the style sheets that its pages load, and then `styles`.
    """
    first = _read(html / "index.html")
    home = posixpath.normpath(first.select_one("meta[http-equiv=refresh]")["content"].partition("url=")[2])
    pages = dict(in_order(html, home))
    start = pages[home]
    title = start.select_one("article h1")
    own = (
        f"{html.name}/{_resolve(page, urlsplit(link['href']).path)}"
        for page, soup in pages.items()
        for link in soup.select("link[rel=stylesheet]")
    )
    sheets = "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in dict.fromkeys([*own, *styles]))
    book = BeautifulSoup(
        f'<!doctype html><html lang="{start.html["lang"]}" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8">{sheets}</head><body><main class="bd-article"></main></body></html>',
        "html.parser",
    )
    name = "".join(title.find_all(string=True, recursive=False)).strip()
    book.head.append(book.new_tag("title"))
    book.title.string = name
    book.main.append(_cover(html, start, name))
    book.main.append(_contents(start, home))
    for page, soup in pages.items():
        book.main.append(_page(page, soup, pages))
    return str(book)


def with_numbers(document: str, numbers: Mapping[str, int]) -> str:
    """The whole book with the numbers of pages in its contents, by the id that `anchor` gives a page."""
    return NUMBER.sub(lambda place: f"<span>{numbers.get(place[1], '')}</span>", document)


def in_order(html: Path, page: str) -> Iterator[tuple[str, BeautifulSoup]]:
    """The pages from `page` on, each as its predecessor's "next"."""
    while page:
        soup = _read(html / page)
        yield page, soup
        following = soup.select_one("link[rel=next]")
        page = _resolve(page, following["href"]) if following else ""


def anchor(page: str, fragment: str = "") -> str:
    """The id in the whole book of a page, or of something in it."""
    name = page.removesuffix(".html").replace("/", "-")
    return f"{name}--{fragment}" if fragment else name


def _cover(html: Path, start: BeautifulSoup, name: str) -> Tag:
    logo = (html / "_static" / "logo.svg").read_text(encoding="utf-8")
    author = start.select_one(".component-author")
    said = author.get_text(" ", strip=True) if author else ""
    return BeautifulSoup(
        f'<section class="book-cover">{logo[logo.index("<svg") :]}<h1>{name}</h1><p>{said}</p></section>', "html.parser"
    )


def _contents(start: BeautifulSoup, home: str) -> Tag:
    """The contents of the side bar, each link with a place for the number of its page."""
    contents = BeautifulSoup(f'<section class="book-page book-contents"><h1>{CONTENTS}</h1></section>', "html.parser")
    entries = start.select_one("nav.bd-docs-nav")
    for summary in entries.find_all("summary"):
        summary.decompose()
    for details in entries.find_all("details"):
        details.unwrap()
    for listed in entries.find_all(["ul", "li"]):
        listed.attrs = {}
    for caption in entries.select(".caption"):
        caption.name = "h2"
        caption.attrs = {}
    for link in entries.find_all("a"):
        target = anchor(_resolve(home, link["href"]))
        link.attrs = {"href": f"#{target}"}
        place = f'<span class="leader"></span><span data-page-of="{target}"></span>'
        link.append(BeautifulSoup(place, "html.parser"))
    contents.section.extend(list(entries.children))
    return contents


def _page(page: str, soup: BeautifulSoup, pages: Mapping[str, BeautifulSoup]) -> Tag:
    """The text of one page, with ids and links that hold in the whole book."""
    article = soup.article
    for element in article.select(ON_SCREEN):
        element.decompose()
    for element in article.find_all(True):
        if element.get("id"):
            element["id"] = anchor(page, element["id"])
        for attribute in POINTS:
            if element.get(attribute):
                element[attribute] = _pointer(page, attribute, element[attribute], pages)
        for attribute in ("style", "clip-path"):
            if "#" in element.get(attribute, ""):
                element[attribute] = IN_STYLE.sub(lambda m: f"url(#{anchor(page, m[1])})", element[attribute])
        if element.name == "details":
            element["open"] = ""
    article.name = "section"
    article.attrs = {"class": "book-page", "id": anchor(page)}
    return article


def _pointer(page: str, attribute: str, value: str, pages: Mapping[str, BeautifulSoup]) -> str:
    """Where a link or a reference of `page` leads in the whole book; out of the book as before."""
    if attribute in ("aria-labelledby", "aria-describedby", "for"):
        return " ".join(anchor(page, name) for name in value.split())
    address, fragment = urldefrag(value)
    target = _resolve(page, address)
    return f"#{anchor(target, fragment)}" if target in pages else value


def _resolve(page: str, address: str) -> str:
    """The path of what a link on `page` leads to."""
    path = urldefrag(address)[0]
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page


def _read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
