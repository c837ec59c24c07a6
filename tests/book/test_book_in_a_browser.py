"""Claims about the book as it is read: in Chromium, light and dark, on a desk and on a phone."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import pytest

DESK, PHONE = 1280, 320  # pixels
# sphinx-togglebutton and the theme tell the console what they do; only complaints count.
COMPLAINTS = {"error", "warning"}

# axe compares each coloured word of code with its background, which takes most of its time: one word of each
# colour is enough.
ONE_WORD_OF_EACH_COLOUR = """() => {
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight span")) {
    const colour = word.closest("div[class*=highlight-]")?.parentElement.className + word.className;
    if (seen.has(colour)) word.replaceWith(word.textContent);
    seen.add(colour);
  }
}"""


@contextmanager
def window(browser, *, width=DESK, mode="light", **options):
    """A window of the browser, as on a first visit."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode, **options)
    yield context
    context.close()


@contextmanager
def reading(context, site, name):
    """The page `name`, open in the window, with what it complained about and asked for."""
    page = context.new_page()
    page.complaints, page.asked = [], []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in COMPLAINTS else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("requestfailed", lambda request: page.complaints.append(f"failed: {request.url}"))
    page.goto(f"{site}/{name}", wait_until="load")  # its scripts have run
    page.wait_for_load_state("networkidle")
    yield page
    page.close()


@dataclass(frozen=True)
class Visit:
    """One page, opened once."""

    name: str
    width: int
    complaints: tuple[str, ...]
    asked: tuple[str, ...]
    width_needed: int
    violations: tuple[str, ...]  # of axe


@pytest.fixture(scope="module", params=[("light", DESK), ("dark", DESK), ("light", PHONE)])
def visits(request, browser, site, pages) -> list[Visit]:
    """Every page in one colour mode and at one width; the first page only leads to another."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    mode, width = request.param
    # Words in pictures and formulas are read as one text, which test_book_pages looks at.
    spoken = {"exclude": [["math"], ["figure.drawn svg"]]}
    # Comparing colours is slow: a dark page differs from a light one in nothing else, and a phone has a desk's colours.
    # The size of what one taps is WCAG 2.2's, which axe leaves out unless asked.
    rules = (
        {"runOnly": ["color-contrast"]}
        if mode == "dark"
        else {"rules": {"color-contrast": {"enabled": width == DESK}, "target-size": {"enabled": True}}}
    )
    # Without `preload`: with it, axe itself asks the server for style sheets, at wrong addresses.
    options = {"preload": False, "resultTypes": ["violations"], **rules}
    made = []
    with window(browser, mode=mode, width=width) as context:
        for name in sorted(pages.keys() - {"index.html"}):
            with reading(context, site, name) as page:
                needed = page.evaluate("document.documentElement.scrollWidth")
                page.evaluate(ONE_WORD_OF_EACH_COLOUR)
                violations = axe.run(page, context=spoken, options=options).response["violations"]
                found = [
                    f"{violation['id']}: {node['html'][:160]}"
                    for violation in violations
                    for node in violation["nodes"]
                ]
                made.append(Visit(name, width, tuple(page.complaints), tuple(page.asked), needed, tuple(found)))
    return made


def test_no_page_complains(visits):
    assert not {visit.name: visit.complaints for visit in visits if visit.complaints}


def test_no_page_asks_another_host_for_anything(visits, site):
    assert not [url for visit in visits for url in visit.asked if not url.startswith((site, "data:"))]


def test_no_page_scrolls_sideways(visits):
    assert not {visit.name: visit.width_needed for visit in visits if visit.width_needed > visit.width}


def test_no_page_has_an_axe_violation(visits):
    assert not {visit.name: visit.violations for visit in visits if visit.violations}


def test_a_figure_has_the_colours_of_its_page(browser, site, pages):
    name = next(name for name, page in pages.items() if page.select("figure.drawn svg text"))
    inks = {}
    for mode in ("light", "dark"):
        with window(browser, mode=mode) as context, reading(context, site, name) as page:
            inks[mode] = page.evaluate("getComputedStyle(document.querySelector('figure.drawn svg text')).fill")
            assert inks[mode] == page.evaluate(
                "getComputedStyle(document.querySelector('article p:not([class])')).color"
            )
    assert inks["light"] != inks["dark"]


def test_a_root_ends_with_what_it_holds(browser, site):
    ends = "[...document.querySelectorAll('msqrt')].map(r => [r, r.lastElementChild].map(e => e.getBoundingClientRect().right))"
    with window(browser) as context, reading(context, site, "book/04_scaling.html") as page:
        found = page.evaluate(ends)
        assert len(found) > 3
        assert not [pair for pair in found if abs(pair[0] - pair[1]) > 1]


def test_what_scrolls_on_a_phone_can_be_reached_with_the_keyboard(browser, site, pages):
    name = next(name for name, page in pages.items() if page.select("table.table"))
    with window(browser, width=PHONE) as context, reading(context, site, name) as page:
        out_of_reach = page.evaluate(
            "[...document.querySelectorAll('.bd-article :is(div.math, table.table, .drawn-scroll)')]"
            ".filter(box => box.scrollWidth > box.clientWidth && box.tabIndex < 0).length"
        )
        assert out_of_reach == 0


def test_the_search_finds_a_word(browser, site):
    with window(browser) as context, reading(context, site, "search.html?q=softmax") as page:
        page.locator("#search-results li a").nth(1).wait_for()  # they come one by one
        assert page.locator("input[type=search]:visible").count() == 1, "one search box"


def test_the_book_reads_and_finds_from_a_folder_without_a_server(browser, html):
    with window(browser) as context:
        with reading(context, html.as_uri(), "book/03_scores.html") as page:
            assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
            assert page.complaints == []
        with reading(context, html.as_uri(), "search.html?q=softmax") as page:
            page.wait_for_selector("#search-results li a")
            page.wait_for_timeout(300)
            assert page.complaints == []


def focused(page):
    return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.ariaLabel")


def test_the_keyboard_alone_skips_to_the_text_opens_menus_and_turns_on_the_dark(browser, site):
    with window(browser) as context, reading(context, site, "book/03_scores.html") as page:
        page.keyboard.press("Tab")
        assert focused(page) == "Skip to main content"
        assert page.locator(":focus").bounding_box()["y"] >= 0, "it is seen when it has the focus"
        page.keyboard.press("Enter")
        for _ in range(6):
            page.keyboard.press("Tab")
            if focused(page) == "Run this page":
                break
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert focused(page) == "Open in Colab"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Escape")
        assert focused(page) == "Run this page"
        assert page.locator("details.page-menu[open]").count() == 0
        page.locator(".theme-switch-button").focus()
        seen = set()
        for _ in range(3):
            page.keyboard.press("Enter")
            seen.add(page.evaluate("document.documentElement.dataset.theme"))
        assert seen == {"light", "dark"}


def test_an_open_menu_closes_when_the_focus_leaves_it(browser, site):
    with window(browser) as context, reading(context, site, "book/03_scores.html") as page:
        page.locator("details.page-menu summary").first.click()
        assert page.locator("details.page-menu[open]").count() == 1
        page.locator("article h1").click()
        assert page.locator("details.page-menu[open]").count() == 0


def test_the_contents_of_a_page_show_where_in_it_the_reader_is(browser, site):
    here = ".bd-toc-nav a[aria-current=true]"
    with window(browser) as context, reading(context, site, "book/03_scores.html") as page:
        assert page.locator(here).inner_text() == page.locator(".bd-toc-nav a").first.inner_text()
        page.evaluate("document.getElementById('find-the-fault').scrollIntoView()")
        page.wait_for_function(f"document.querySelector('{here}').hash === '#find-the-fault'", timeout=10_000)
        assert page.locator(here).count() == 1


def test_what_was_read_and_what_passed_stands_in_the_contents_until_it_is_forgotten(browser, site):
    contents = ".bd-docs-nav"
    with window(browser) as context:
        with reading(context, site, "book/index.html") as page:
            assert not page.locator(".so-far").is_visible()
        with reading(context, site, "book/01_bottleneck.html") as page:
            page.get_by_label("I have read this page").check()
            note = page.locator(f"{contents} a[data-chapter='book/01_bottleneck'] .progress-note")
            assert note.text_content() == "✓ (read)"
            page.evaluate(
                "localStorage.setItem('course:exercise:exercises/01_bottleneck/bottleneck:one', 'passed');"
                "localStorage.setItem('course:exercise:exercises/01_bottleneck/bottleneck:two', 'begun');"
                "document.dispatchEvent(new Event('course:progress'))"
            )
            note = page.locator(f"{contents} a[data-exercises='exercises/01_bottleneck/bottleneck'] .progress-note")
            assert note.text_content() == "1/4 (1 of 4 exercises pass)"
        with reading(context, site, "book/index.html") as page:
            so_far = page.locator(".so-far")
            assert so_far.locator("p").inner_text().startswith("You have read 1 of ")
            assert "02_weighted_sums" in so_far.locator("a").get_attribute("href")
            so_far.get_by_role("button").click()
            assert "Forgotten" in focused(page)
            assert page.locator(f"{contents} a[data-chapter] .progress-note").count() == 0
            assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('course:')).length") == 2


def test_who_comes_to_the_foot_of_a_chapter_and_stays_has_read_it(browser, site):
    with window(browser) as context, reading(context, site, "book/01_bottleneck.html") as page:
        box = page.get_by_label("I have read this page")
        page.wait_for_timeout(2200)
        assert not box.is_checked(), "it was opened, and no more"
        page.locator("#course-progress").scroll_into_view_if_needed()
        page.wait_for_function("box => box.checked", arg=box.element_handle())


def test_paper_shows_answers_and_no_menus_in_light_colours(browser, site):
    with window(browser, mode="dark") as context, reading(context, site, "book/how_to_read.html") as page:
        answer = page.locator(".admonition.dropdown p").last
        assert not answer.is_visible()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert answer.is_visible()
        assert not page.locator(".bd-sidebar-primary").is_visible()
        assert not page.locator(".article-header-buttons").is_visible()
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_book_reads_without_script(browser, site):
    with window(browser, java_script_enabled=False) as context:
        with reading(context, site, "book/how_to_read.html") as page:
            assert page.locator(".admonition.dropdown p").last.is_visible(), "hidden answers are shown"
            assert page.locator("nav.bd-docs-nav a:visible").count() > 5, "the contents are there"
            page.locator("details.page-menu summary").click()
            assert page.get_by_role("link", name="Report a mistake").is_visible(), "menus open"
        with reading(context, site, "book/01_bottleneck.html") as page:
            assert page.locator("#course-progress:visible").count() == 0, "nothing that would not work"
        with reading(context, site, "book/notation.html") as page:
            assert page.locator("math:visible").count() > 5
