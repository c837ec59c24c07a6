"""What every picture of the book promises its readers."""

from __future__ import annotations

import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book"))
import figures

LIGHT_PAGE, LIGHT_TEXT = "#ffffff", "#222832"  # the theme's own
DARK_PAGE, DARK_TEXT = "#121212", "#ced6dd"


@pytest.fixture(autouse=True)
def the_style():
    figures.use_style()
    yield
    plt.close("all")


def table(weights: np.ndarray, alt: str = "A table", **labels: list[str]) -> figures.Picture:
    fig, ax = plt.subplots()
    figures.heatmap(ax, weights, **labels)
    return figures.Picture(fig, alt=alt, caption="Weights")


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    found: list[tuple[str, dict[str, str | None]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(html)
    return found


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(over: str, under: str, strength: float) -> str:
    channels = [
        round(strength * int(over[i : i + 2], 16) + (1 - strength) * int(under[i : i + 2], 16)) for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{c:02x}" for c in channels)


def test_a_picture_is_a_figure_with_a_text_alternative_and_a_caption():
    picture = table(np.eye(2), alt='The "diagonal" <is> dark & clear', rows=["a", "b"], columns=["c", "d"])
    found = tags(picture._repr_html_())
    assert found[0][0] == "figure"
    svg = next(attributes for tag, attributes in found if tag == "svg")
    assert svg["role"] == "img"
    assert svg["aria-label"] == 'The "diagonal" <is> dark & clear'
    assert "<figcaption>Weights</figcaption>" in picture._repr_html_()
    assert "diagonal" in repr(picture)


@pytest.mark.parametrize("empty", ["alt", "caption"])
def test_a_picture_without_words_is_refused(empty):
    fig = plt.figure()
    with pytest.raises(ValueError, match="alt text and a caption"):
        figures.show(fig, **{"alt": "A line", "caption": "A line", empty: " "})


def test_a_picture_too_wide_for_a_phone_is_refused():
    with pytest.raises(ValueError, match=r"6\.4 inches wide.*8"):
        figures.Picture(plt.figure(figsize=(8, 3)), alt="Wide", caption="Wide")


def test_only_a_wide_picture_scrolls_in_its_own_box():
    wide = figures.Picture(plt.figure(figsize=(6.4, 3)), alt="Wide", caption="Wide")
    narrow = figures.Picture(plt.figure(), alt="Narrow", caption="Narrow")
    assert 'class="drawn-scroll"' in wide._repr_html_()
    assert "drawn-scroll" not in narrow._repr_html_()


def test_the_same_figure_gives_the_same_bytes():
    one, two = (table(np.eye(3), rows=list("abc"), columns=list("def"))._repr_html_() for _ in range(2))
    assert one == two


def test_two_pictures_of_a_page_share_no_id():
    one = table(np.eye(2), alt="first", rows=list("ab"), columns=list("cd")).svg
    two = table(np.eye(2), alt="second", rows=list("ab"), columns=list("cd")).svg
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_a_picture_reaches_nothing_outside_itself():
    fig, ax = plt.subplots()
    ax.plot([0, 1], label="line")
    ax.scatter([0, 1], [1, 0], color="k")
    ax.legend()
    svg = figures.Picture(fig, alt="Lines", caption="Lines").svg
    assert not re.search(r"https?:|<style|<script|<image|#000000|#222832", svg.replace("http://www.w3.org/", ""))


def test_words_stay_words_and_need_no_font():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = table(np.ones((1, 4)), rows=["I"], columns=figures.words(["나", "는", "학생", "이다"]))
    for label in ("나", "na", "학생", "haksaeng", "이다"):
        assert f">{label}<" in picture.svg


def test_words_without_hangul_are_left_alone():
    assert figures.words(["I", "<eos>", "나"]) == ["I", "<eos>", "나\nna"]


def test_a_heat_map_names_its_rows_and_columns_in_order():
    _, ax = plt.subplots()
    figures.heatmap(ax, np.arange(6.0).reshape(2, 3), rows=["I", "am"], columns=["x", "y", "z"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["I", "am"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]
    top, bottom = ax.get_ylim()[::-1]
    assert top < bottom, "row 0 stands at the top"
    where = {text.get_text(): text.get_position() for text in ax.texts}
    assert where["5.00"] == (2.5, 1.5)  # row 1, column 2


def test_swapped_labels_are_named():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"3 labels for 2 rows .*\(2, 3\).*swapped"):
        figures.heatmap(ax, np.ones((2, 3)), rows=list("abc"), columns=list("de"))
    with pytest.raises(ValueError, match="2 labels for 3 columns"):
        figures.heatmap(ax, np.ones((2, 3)), rows=list("ab"), columns=list("de"))


def test_a_heat_map_of_a_batch_is_refused():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"2 axes.*\(1, 2, 3\)"):
        figures.heatmap(ax, np.ones((1, 2, 3)), rows=list("ab"), columns=list("cde"))


def test_minus_infinity_is_written_and_not_filled():
    _, ax = plt.subplots()
    figures.heatmap(ax, np.array([[-np.inf, -0.5, -0.001]]), rows=["q"], columns=list("abc"))
    assert [text.get_text() for text in ax.texts] == ["−∞", "−0.50", "0.00"]
    fills = ax.collections[0].get_array()[0]
    assert fills[0, 3] == 0
    assert fills[1, 3] == 1  # the largest finite number has the full colour


def test_a_common_top_makes_two_tables_comparable():
    _, ax = plt.subplots()
    figures.heatmap(ax, np.array([[0.25, 0.5]]), rows=["q"], columns=list("ab"), top=1.0)
    np.testing.assert_allclose(ax.collections[0].get_array()[0, :, 3], [0.25, 0.5])


def test_an_empty_table_and_a_table_of_zeros_can_be_drawn():
    table(np.zeros((2, 2)), rows=list("ab"), columns=list("cd"))
    table(np.full((1, 2), -np.inf), rows=["q"], columns=list("cd"))


@pytest.mark.parametrize("strength", np.linspace(0, 1, 11))
def test_numbers_on_every_fill_have_a_contrast_of_at_least_4_5(strength, dark_colours):
    for fill, name in ((figures.COOL, "cool"), (figures.WARM, "warm")):
        assert contrast(LIGHT_TEXT, mixed(fill, LIGHT_PAGE, strength)) >= 4.5
        assert contrast(DARK_TEXT, mixed(dark_colours[name], DARK_PAGE, strength)) >= 4.5


def test_every_colour_has_a_contrast_of_at_least_4_5_on_light_and_dark_pages(dark_colours):
    for name in ("blue", "orange", "green", "purple"):
        assert contrast(getattr(figures, name.upper()), LIGHT_PAGE) >= 4.5
        assert contrast(dark_colours[name], DARK_PAGE) >= 4.5


@pytest.fixture(scope="module")
def dark_colours() -> dict[str, str]:
    """The dark values, as the site's CSS gives them."""
    css = (Path(__file__).resolve().parent.parent / "book/assets/course.css").read_text(encoding="utf-8")
    dark = re.search(r'data-theme="dark"\]\s*\{\s*(--figure.*?)\}', css, re.S)
    assert dark, "course.css has a block of dark values"
    return dict(re.findall(r"--figure-(\w+):\s*(#[0-9a-f]{6})", dark[1]))
