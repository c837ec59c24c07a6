"""Claims about the figures to play with as a reader meets them: with keys, on a phone, and without a script."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "book"))
import live_figures

ASSETS = ROOT / "book" / "assets"
HS = np.array([[0.9, -0.2, 0.1], [0.3, 0.3, 0.8], [-0.4, 0.9, 0.0], [-0.8, -0.5, 0.6]])  # (T, H)
WEIGHTS = np.array([0.1, 0.6, 0.2, 0.1])  # (T,)
QUESTION, NEAR, FAR = np.array([2.0, 1.0]), np.array([0.6, 0.9]), np.array([3.0, -1.0])
NETWORK = {
    "W_h": np.array([[0.5, 0.2], [0.3, -0.6]]),
    "W_s": np.array([[0.2, -0.3], [0.1, 0.4]]),
    "v": np.array([2.0, 1.0]),
}
DRAWN = {16: 4 * np.random.default_rng(16).normal(size=64), 1024: np.linspace(80, -80, 64)}
SCORES = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 4.0], [2.0, 2.0, 1.0]])  # (L, S)
MASKS = {"all": np.ones((3, 3), dtype=bool), "causal": np.tri(3, dtype=bool), "last": np.tri(3, dtype=bool)[1:]}
HEADS = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.0, 1.0]]])  # (h, L, S)
SOURCE = {"Q": "source", "K": "source", "V": "source", "mask": "padding", "weights": "(4, 4)"}
TARGET = {"Q": "target", "K": "target", "V": "target", "mask": "causal", "weights": "(5, 5)"}
CROSS = {"Q": "target", "K": "memory", "V": "memory", "mask": "padding", "weights": "(5, 4)"}


def all_figures():
    shares = {name: np.array([[1.0, 0.9], [at, at + 0.1]]) for name, at in (("16", 0.2), ("32", 0.6))}
    said = {"16": [("ab", "ba"), ("abcdefgh", "hgfedcab")], "32": [("ab", "ba"), ("abcdefgh", "hgfedcba")]}
    yield live_figures.bottleneck(shares, sizes=[16, 32], lengths=[2, 8], examples=said, caption="bottleneck")
    yield live_figures.weighted_sum(
        WEIGHTS, HS, rows=["나\nna", "b", "c", "d"], wanted=2, axes=(0, 2), caption="weighted sum"
    )
    yield live_figures.scores(QUESTION, {"near": NEAR, "far": FAR}, **NETWORK, caption="scores")
    yield live_figures.temperature(DRAWN, caption="temperature")
    yield live_figures.masks(SCORES, rows=["I", "am", "a"], columns=["x", "y", "z"], masks=MASKS, caption="masks")
    yield live_figures.heads(HEADS, names=["who?", "what?"], rows=["I", "am"], columns=["나", "는"], caption="heads")
    yield live_figures.alignment(HEADS[0], target=["삼", "십"], source=["thirty", "<eos>"], caption="alignment")
    yield live_figures.cut_and_join(4, 6, 3, choices=(1, 2, 6), caption="cut")
    yield live_figures.three_attentions(
        {"encoder": SOURCE, "decoder": TARGET, "cross": CROSS}, alt="A", caption="three"
    )


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """A page with every kind of figure, opened as a file: as from a zip of the book, without a server."""
    figures = list(all_figures())
    scripts = ["numbers", "figure", *dict.fromkeys(figure.kind for figure in figures)]
    head = "".join(
        f'<link rel="stylesheet" href="{(ASSETS / css).as_uri()}">' for css in ("course.css", "live/live.css")
    )
    head += "".join(f'<script defer src="{(ASSETS / f"live/{name}.js").as_uri()}"></script>' for name in scripts)
    body = "".join(figure._repr_html_() for figure in figures)
    page = tmp_path_factory.mktemp("live") / "page.html"
    page.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Figures</title>'
        f'<meta name="viewport" content="width=device-width">{head}</head>'
        f'<body><main class="bd-article"><h1>Figures</h1>{body}</main></body></html>',
        encoding="utf-8",
    )
    return page.as_uri()


@pytest.fixture
def opened(browser, address):
    """Opens the page; whatever it complains of fails the test."""
    contexts, complaints = [], []

    def open_page(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def kind(page, name):
    return page.locator(f"figure[data-live={name}]").first


def numbers_in(table) -> np.ndarray:
    rows = table.locator("tbody tr:visible").all()
    return np.array([[float(text.replace("−", "-")) for text in row.locator("td").all_inner_texts()] for row in rows])


def says(figure) -> str:
    return figure.get_by_role("status").inner_text()


def softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


TWO_DECIMALS = {"rtol": 0, "atol": 0.0051}


def test_without_a_script_every_figure_is_its_tables_and_its_caption(opened):
    page = opened(java_script_enabled=False)
    for figure in page.locator("figure.live").all():
        assert figure.locator("table").first.is_visible()
        assert figure.locator("figcaption").is_visible()
        assert figure.locator("input, button, select").count() == 0
    table = kind(page, "weighted_sum").locator("table")
    np.testing.assert_allclose(numbers_in(table)[-1], [1.0, *(WEIGHTS @ HS)], **TWO_DECIMALS)


def test_axe_finds_nothing_after_each_figure_was_used(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened()
    # Colours depend on the theme: the tests of the built book compare them, in light and dark.
    options = {"preload": False, "resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
    for target in page.locator("figure.live :is(input[type=range], td[tabindex='0'], td button[tabindex='0'])").all():
        target.focus()
        target.press("ArrowRight")
    page.locator("[data-live=masks] td button").first.press("Space")
    result = axe.run(page, options=options)
    assert result.violations_count == 0, result.generate_report()


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_never_scrolls_the_page_sideways(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_moves_by_itself_for_who_wants_it_still(opened):
    seconds = "[...document.querySelectorAll('.live-look, .live-arrow, .live-strip i, .live-bar i')].map(e => getComputedStyle(e).transitionDuration)"
    assert set(opened(reduced_motion="reduce").evaluate(seconds)) == {"0s"}
    assert set(opened(reduced_motion="no-preference").evaluate(seconds)) == {"0.15s"}


def test_length_and_size_choose_the_measured_share_and_its_word(opened):
    figure = kind(opened(), "bottleneck")
    assert figure.locator("td.here").inner_text() == "0.95"
    figure.get_by_role("slider").press("End")
    figure.get_by_role("radio", name="16").press("ArrowRight")
    assert figure.locator("td.here").inner_text() == "0.65"
    assert "8 letters, 32: 65 % of the words come back, 60 % to 70 %" in says(figure)
    assert "comes back as hgfedcba: right" in says(figure)
    figure.get_by_role("radio", name="32").press("ArrowLeft")
    assert "comes back as hgfedcab: wrong" in says(figure)
    assert figure.locator(".live-tiles .wrong").all_inner_texts() == ["a", "b"]


def test_moving_a_weight_moves_the_context_and_keeps_the_sum(opened):
    figure = kind(opened(), "weighted_sum")
    slider = figure.get_by_role("slider", name="Weight of c")
    for _ in range(3):
        slider.press("ArrowRight")
    a = WEIGHTS * (1 - 0.23) / (1 - 0.2)
    a[2] = 0.23
    shown = numbers_in(figure.locator("table"))
    np.testing.assert_allclose(shown[:-1, 0], a, **TWO_DECIMALS)
    np.testing.assert_allclose(shown[-1], [1, *(a @ HS)], **TWO_DECIMALS)
    slider.press("End")
    assert "is 0.00" in says(figure)
    assert figure.get_by_role("slider", name="Weight of b").get_attribute("aria-valuetext") == "0.00"
    figure.get_by_role("button", name="all alike").press("Enter")
    np.testing.assert_allclose(numbers_in(figure.locator("table"))[-1, 1:], HS.mean(axis=0), **TWO_DECIMALS)


def test_a_longer_key_changes_the_scores_as_numpy_says(opened):
    figure = kind(opened(), "scores")
    figure.get_by_role("radio", name="far").focus()
    figure.get_by_role("slider", name="Its length").press("End")
    figure.get_by_role("slider", name="Its direction").press("Home")
    key = np.array([-5.0, 0.0])
    wanted = [key @ QUESTION, -2 / np.sqrt(5), np.tanh(key @ NETWORK["W_h"] + QUESTION @ NETWORK["W_s"]) @ NETWORK["v"]]
    row = figure.locator("tbody tr").nth(1).locator("td").all_inner_texts()
    np.testing.assert_allclose([float(text.replace("−", "-")) for text in row[1:]], wanted, **TWO_DECIMALS)
    assert "By dot product near wins" in says(figure)


def test_a_tip_can_be_dragged(opened):
    page = opened(viewport={"width": 1000, "height": 900})
    figure = kind(page, "scores")
    tip = figure.locator(".live-tip").nth(1)
    tip.scroll_into_view_if_needed()
    box = tip.bounding_box()
    page.mouse.move(box["x"] + 14, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 14 + 34, box["y"] + 14)  # one unit to the right
    page.mouse.up()
    assert figure.get_by_role("radio", name="near").is_checked()
    assert figure.locator("tbody tr").first.locator("td").first.inner_text() == "(1.60, 0.90)"


def test_temperature_changes_what_numpy_says_it_changes(opened):
    figure = kind(opened(), "temperature")
    figure.get_by_role("radio", name="16", exact=True).press("ArrowRight")
    figure.get_by_role("button", name="τ = √dₖ").press("Enter")
    figure.get_by_role("slider").press("ArrowRight")
    a = softmax(DRAWN[1024] / 2**5.125)
    entropy = -np.sum(a * np.log(a))
    size = np.linalg.norm(np.diag(a) - np.outer(a, a))
    shown = [float(text) for text in figure.locator("dd").all_inner_texts()]
    np.testing.assert_allclose(shown, [a.max(), np.exp(entropy), entropy, size], rtol=0, atol=0.051)
    np.testing.assert_allclose(shown[3], size, rtol=0, atol=0.00051)
    figure.get_by_role("slider").press("Home")
    assert "Saturated" in says(figure)


def test_a_mask_is_drawn_with_the_keyboard_alone(opened):
    page = opened()
    figure = kind(page, "masks")
    figure.get_by_role("combobox").focus()
    page.keyboard.press("Tab")  # one stop for the whole table
    page.keyboard.press("Space")  # I may not see x
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert "I may not see y." in says(figure)
    page.keyboard.press("Space")
    assert "I may see y." in says(figure)
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert "I: nothing to see, and all weights are 0." in says(figure)
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-pressed") == "false"
    assert focused.get_attribute("aria-label") == "I, z: 0.00"
    wanted = softmax(SCORES)
    wanted[0] = 0
    np.testing.assert_allclose(numbers_in(figure.locator("table"))[:, :3], wanted, **TWO_DECIMALS)
    figure.get_by_role("combobox").select_option("infinity")
    assert figure.locator("tbody tr").first.locator("button").all_inner_texts() == ["NaN"] * 3
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('[data-live=masks] table')"), "Tab leaves the table"


def test_a_rectangle_has_the_rows_of_the_last_queries(opened):
    figure = kind(opened(), "masks")
    figure.get_by_role("radio", name="last").check()
    seen = MASKS["last"]
    wanted = softmax(np.where(seen, SCORES[1:], -np.inf))
    np.testing.assert_allclose(numbers_in(figure.locator("table"))[:, :3], wanted, **TWO_DECIMALS)


def test_arrow_keys_lead_through_the_rows_of_a_head(opened):
    page = opened()
    figure = kind(page, "attention")
    figure.locator("td[tabindex='0']").first.focus()
    before = page.evaluate("scrollY")
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)  # a browser glides to where it scrolls
    assert page.evaluate("scrollY") == before, "the keys move in the table, and not the page"
    assert says(figure) == "am, who?: everything alike. am, what?: 는 (1.00)."
    assert figure.get_by_role("status").locator("[lang=ko]").inner_text() == "는"
    assert figure.locator("tr.here").count() == 2, "the row in both tables"
    assert figure.locator(".live-look:not(.faint)").count() == 4


def test_a_number_is_followed_through_the_cut(opened):
    page = opened()
    figure = kind(page, "cut")
    figure.get_by_label("cut: transpose").uncheck()
    assert "Head 0 holds pieces of 2 of 4 words. What is joined is not X." in says(figure)
    figure.locator("td[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    # reshape alone: 23 is number 8 of the line, the first of head 1
    assert "23 goes to head 1, row 1, column 1." in says(figure)
    assert figure.locator("td.here").all_inner_texts() == ["23"] * 3
    figure.get_by_label("join: transpose").uncheck()
    assert "What is joined is X again." in says(figure)
    figure.get_by_role("radio", name="6").check()
    assert figure.locator(".live-tables table").count() == 6


def test_each_arrow_says_where_it_comes_from(opened):
    page = opened()
    figure = kind(page, "sources")
    figure.locator("td[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert says(figure) == "cross: K comes from the memory."
    assert [arrow.get_attribute("data-arrow") for arrow in figure.locator(".live-arrow.here").all()] == ["2-K"]
    figure.locator("[data-arrow='1-V']").dispatch_event("pointerenter")
    assert says(figure) == "decoder: V comes from the target."
