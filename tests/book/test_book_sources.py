"""Claims about what the book is made from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from course_site import bundles, exercises, head, icons, mathml, notebooks, sources
from docutils import nodes
from docutils.utils import new_document

from autograder.suspicions import suspicions

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def listed(entry: dict) -> list[str]:
    """Every page named in a table of contents, in its order."""
    own = [entry[key] for key in ("root", "file") if key in entry]
    children = [child for key in ("parts", "chapters", "sections") for child in entry.get(key, ())]
    return own + [page for child in children for page in listed(child)]


def test_the_table_of_contents_names_files_that_exist():
    missing = [page for page in listed(TOC) if not any((ROOT / f"{page}{end}").exists() for end in (".md", ".ipynb"))]
    assert not missing


def test_the_table_of_contents_forgets_no_page():
    pages = [*ROOT.glob("book/*.md"), *ROOT.glob("book/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb")]
    forgotten = {page.relative_to(ROOT).with_suffix("").as_posix() for page in pages} - set(listed(TOC))
    assert not forgotten


def test_exercises_stand_under_their_chapter():
    chapters = [chapter for part in TOC["parts"] for chapter in part["chapters"] if chapter.get("sections")]
    for chapter in chapters:
        name = Path(chapter["file"]).name
        for section in chapter["sections"]:
            assert section["file"].startswith((f"exercises/{name}/", f"book/{name}"))


def test_exercise_notebooks_are_not_run():
    for notebook in ROOT.glob("exercises/*/*.ipynb"):
        metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
        assert metadata["mystnb"]["execution_mode"] == "off", notebook.name


def test_the_address_of_the_repository_is_written_in_one_place():
    address = CONFIG["repository"]["url"]
    files = [*ROOT.glob("book/**/*"), *ROOT.glob("exercises/*/*.ipynb"), *ROOT.glob("solutions/*/*")]
    texts = [f for f in files if f.suffix in {".md", ".ipynb", ".py", ".js", ".css", ".html"} and f.is_file()]
    assert not [file.name for file in texts if address in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    ("metadata", "kind", "label"),
    [
        ({"solution": True, "grade_id": "softmax"}, "answer", "Your answer: softmax"),
        ({"grade": True, "solution": False, "points": 1, "locked": True}, "check", "Check: 1 point"),
        ({"grade": True, "solution": False, "points": 2.5, "locked": True}, "check", "Check: 2.5 points"),
        ({"locked": True}, "given", "Given"),
    ],
)
def test_a_cell_says_what_it_is_for(metadata, kind, label):
    assert exercises.purpose(metadata) == (kind, label)


def test_a_cell_that_nbgrader_does_not_know_has_no_label():
    assert exercises.purpose({}) is None


def test_a_changed_module_changes_the_name_of_the_cache(tmp_path):
    module = tmp_path / "running_example.py"
    module.write_text("H = 3\n", encoding="utf-8")
    before = sources.digest([module])
    assert sources.digest([module]) == before
    module.write_text("H = 4\n", encoding="utf-8")
    assert sources.digest([module]) != before


def test_every_source_in_the_bibliography_has_a_place_to_find_it():
    entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8").split("\n@")[1:]
    for entry in entries:
        key = re.match(r"\w+\{(\w+),", entry)[1]
        assert re.search(r"^\s*(eprint|doi|journal|publisher)\s*=", entry, re.M), key
        assert re.search(rf"year\s*=\s*\{{{key[-4:]}\}}", entry), f"{key} should end in its year"


COURSE = {"repository_url": "https://example.org/course", "repository_branch": "main"}


def fetching_cell(docname: str) -> str:
    """The first cell of the copy for Colab of the notebook of a page."""
    text = (ROOT / f"{docname}.ipynb").read_text(encoding="utf-8")
    return json.loads(notebooks.with_fetching(text, docname, COURSE))["cells"][0]["source"]


@pytest.mark.parametrize("docname", ["book/03_scores", "exercises/03_scores/scores"])
def test_the_cell_that_fetches_the_course_does_nothing_where_the_course_is(docname, monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    said = []
    shell = InteractiveShell()
    monkeypatch.setattr(shell, "system", said.append)
    monkeypatch.setattr(shell, "run_line_magic", lambda *words: said.append(words))
    monkeypatch.syspath_prepend(ROOT / "book")
    source = fetching_cell(docname)
    assert shell.run_cell(source).success
    assert said == []
    assert list(suspicions(source)) == [], "a teacher need not look at it"


def test_a_chapter_away_from_the_course_fetches_it(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    said = []
    shell = InteractiveShell()
    monkeypatch.setattr(shell, "system", said.append)
    monkeypatch.setattr(shell, "run_line_magic", lambda *words, **_: said.append(" ".join(words[:2])))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert shell.run_cell(fetching_cell("book/03_scores")).success
    assert said == ["git clone --quiet --depth 1 --branch main https://example.org/course course", "cd -q course/book"]


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (".used a{color:red}", True),
        (".unused a{color:red}", False),
        ("#unused{color:red}", False),
        ("p:not(.unused){color:red}", True),  # holds where no such class is
        (":is(.unused,.used) p{color:red}", True),
        ("a[href='.unused']{color:red}", True),
        ("@media print{.used{color:red}}", True),
        ("@media print{.unused{color:red}}", False),
        ("@font-face{font-family:unused}", True),
        ("/*! a licence */", True),
        ("/* a remark */", False),
    ],
)
def test_a_rule_is_kept_when_some_page_could_use_it(rule, kept):
    assert bool(bundles.trimmed(rule, {"used"})) == kept


def test_of_several_selectors_the_used_ones_stay():
    assert bundles.trimmed(".used,.unused , p{color:red}", {"used"}) == ".used,p{color:red}\n"


def test_every_icon_of_the_theme_is_known_by_its_names():
    drawings = icons.known_drawings()
    assert drawings["bars"] == drawings["navicon"] == 0xF0C9
    assert drawings["github"] == 0xF09B
    assert len(drawings) > 1500


def test_a_page_takes_its_words_and_its_lines_of_code_to_read():
    document = new_document("")
    document += nodes.paragraph("", " ".join(["word"] * 2000))
    assert head.minutes_to_read(document) == 10
    document += nodes.literal_block("", "x = 1\n\n" * 100)
    assert head.minutes_to_read(document) == 15, "blank lines are not read"
    assert head.minutes_to_read(new_document("")) == 5, "nobody plans more finely"


ROOM = '<mspace width="0.1667em"></mspace>'
LOG = "<mi>log</mi><mo>\u2061</mo>"
MAX = "<munder><mrow><mi>max</mi><mo>\u2061</mo></mrow><mi>j</mi></munder>"
PRIME = '<mo lspace="0em" rspace="0em">′</mo>'


def test_rows_of_a_formula_stand_under_each_other():
    row = "<mtr><mtd><mi>x</mi></mtd><mtd><mo>=</mo></mtd></mtr>"
    table = f'<mtable columnalign="right left" columnspacing="0em">{row}{row}</mtable>'
    styles = [cell["style"] for cell in BeautifulSoup(mathml.mended(table), "html.parser").find_all("mtd")]
    assert [style.split(";")[0] for style in styles] == ["text-align: right", "text-align: left"] * 2


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (f"<mi>a</mi>{LOG}<mi>b</mi>", f"<mi>a</mi>{ROOM}{LOG}{ROOM}<mi>b</mi>"),
        (
            f"<msup><mi>e</mi><mrow>{LOG}<mn>2</mn></mrow></msup>",
            f"<msup><mi>e</mi><mrow>{LOG}{ROOM}<mn>2</mn></mrow></msup>",
        ),
        (f"<mo>=</mo>{LOG}<mo>(</mo><mi>b</mi><mo>)</mo>", None),
        (f"{MAX}<msub><mi>s</mi><mi>j</mi></msub>", f"{MAX}{ROOM}<msub><mi>s</mi><mi>j</mi></msub>"),
        (f"<mo>)</mo>{MAX}<mo>(</mo>", f"<mo>)</mo>{ROOM}{MAX}<mo>(</mo>"),
        ("<mo>(</mo><mo>−</mo><mn>2</mn>", '<mo>(</mo><mo form="prefix">−</mo><mn>2</mn>'),
        ("<mo>,</mo><mo>−</mo><mn>2</mn>", '<mo>,</mo><mo form="prefix">−</mo><mn>2</mn>'),
        ("<mo>)</mo><mo>−</mo><mn>2</mn>", None),
        ("<mn>3</mn><mo>−</mo><mn>2</mn>", None),
        (f"<mrow><mi>u</mi>{PRIME}</mrow><mo>−</mo>", None),
        ('<mo stretchy="false">∥</mo>', '<mo lspace="0em" rspace="0em" stretchy="false">∥</mo>'),
        (f"<msup><mi>m</mi>{PRIME}</msup>", f"<mrow><mi>m</mi>{PRIME}</mrow>"),
        (
            f"<msubsup><mi>m</mi><mi>i</mi>{PRIME}</msubsup>",
            f"<msub><mrow><mi>m</mi>{PRIME}</mrow><mi>i</mi></msub>",
        ),
    ],
)
def test_formulas_have_the_room_that_tex_gives_them(made, wanted):
    assert BeautifulSoup(mathml.mended(f"<math><mrow>{made}</mrow></math>"), "html.parser") == BeautifulSoup(
        f"<math><mrow>{wanted or made}</mrow></math>", "html.parser"
    )
