"""KaTeX's MathML as browsers ought to get it: they know less of spacing than KaTeX's own drawing does.

What TeX spaces by kinds of signs, browsers space by each sign's entry in the dictionary of operators, and by where it
stands in its row. KaTeX writes flat rows, so five things come out wrong, and are mended here.
"""

from __future__ import annotations

from collections.abc import Callable

from bs4 import BeautifulSoup, Tag

THIN = "0.1667em"  # TeX's thin space
APPLIED = "\u2061"  # stands between a function's name and what it is applied to; it has no width
SIGNS = ("−", "+", "±")
BARS = ("∥", "∣", "|")
PRIMES = ("′", "″", "‴")
CLOSING = (*")]}⟩⌉⌋!", *BARS, *PRIMES, APPLIED)  # after one of these a sign subtracts
WITH_INDICES = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}


def mended(html: str) -> str:
    """The HTML that KaTeX made of a formula, with its MathML mended."""
    soup = BeautifulSoup(html, "html.parser")
    for sign in soup.find_all("mo"):
        text = sign.get_text()
        if text == APPLIED:
            _give_room(soup, sign)
        elif text in SIGNS and _is_of_a_number(sign):
            sign["form"] = "prefix"
        elif text in BARS and sign.get("stretchy") == "false":  # bars of a norm, not a relation
            sign["lspace"] = sign["rspace"] = "0em"
        elif text and set(text) <= set(PRIMES):
            _lower(soup, sign)
    for table in soup.find_all("mtable", columnalign=True):
        _align(table)
    return str(soup)


def _give_room(soup: BeautifulSoup, applied: Tag) -> None:
    """A thin space on both sides of a function with its name: a log b. Brackets need none."""
    after = _whole(applied, _is_last)
    if (follows := after.find_next_sibling()) is not None and not _is_bracket(follows):
        after.insert_after(soup.new_tag("mspace", width=THIN))
    name = applied.find_previous_sibling()
    before = _whole(name, _is_first) if name is not None else None
    precedes = before.find_previous_sibling() if before is not None else None
    if precedes is not None and (precedes.name not in ("mo", "mspace", "mtext") or precedes.get_text() in CLOSING):
        before.insert_before(soup.new_tag("mspace", width=THIN))


def _whole(part: Tag, at_the_edge: Callable[[Tag], bool]) -> Tag:
    """The part with the indices it has, as long as it stands at the edge of what holds it."""
    while (outer := part.parent) is not None:
        is_letter = outer.name == "mrow" and outer.parent.name in WITH_INDICES and _is_first(outer)
        if not (outer.name in WITH_INDICES and _is_first(part)) and not (is_letter and at_the_edge(part)):
            break
        part = outer
    return part


def _align(table: Tag) -> None:
    """Rows that stand under each other at their signs: browsers centre every cell, and put room around it."""
    aligned = table["columnalign"].split()
    gaps = ["0em", *table.get("columnspacing", "").split()]
    for row in table.find_all("mtr", recursive=False):
        for number, cell in enumerate(row.find_all("mtd", recursive=False)):
            align = aligned[min(number, len(aligned) - 1)]
            gap = gaps[min(number, len(gaps) - 1)]
            cell["style"] = f"text-align: {align}; padding-left: {gap}; padding-right: 0"


def _is_first(part: Tag) -> bool:
    return part.find_previous_sibling() is None


def _is_last(part: Tag) -> bool:
    return part.find_next_sibling() is None


def _is_bracket(part: Tag) -> bool:
    """Whether a part is, or begins with, an opening bracket; or a space that was asked for."""
    first = part if part.name in ("mo", "mtext", "mspace") else part.find(["mo", "mi", "mn", "mtext"])
    return first is not None and (first.name in ("mtext", "mspace") or first.get_text() in tuple("([{⟨⌈⌊"))


def _is_of_a_number(sign: Tag) -> bool:
    """Whether a minus makes a number negative, and does not subtract: it stands after a bracket, a comma, a relation."""
    before = sign.find_previous_sibling(lambda part: part.name != "mspace")
    return before is not None and before.name == "mo" and before.get_text() not in CLOSING


def _lower(soup: BeautifulSoup, prime: Tag) -> None:
    """Set a prime beside its letter: the font's is raised already, and browsers would raise and shrink it once more."""
    raised = prime.parent
    if raised.name not in ("msup", "msubsup") or prime.find_next_sibling() is not None:
        return
    letter, *index = raised.find_all(recursive=False)[:-1]
    row = soup.new_tag("mrow")
    if index:
        raised.name = "msub"
        letter.replace_with(row)
    else:
        raised.replace_with(row)
    row.extend([letter, prime])
