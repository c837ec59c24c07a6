"""Exercises in the page with the keyboard alone, on a phone, in the dark, without script, from a folder, without Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from learner import Learner
from test_exercises_in_page import NOTEBOOKS

PAGE = "exercises/02_weighted_sums/weighted_sums"
NOTEBOOK = NOTEBOOKS[PAGE]
RIGHT = {exercise.name: exercise.reference for exercise in NOTEBOOK.exercises}
STUBS = {exercise.name: exercise.stub for exercise in NOTEBOOK.exercises}
FIRST, SECOND, *_ = RIGHT
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
RAISES = f"def {FIRST}(hs, a):\n    return hs[len(hs)]\n\nprint('before')\n{FIRST}(np.ones((2, 3)), None)"


@pytest.fixture
def visit(browser, site):
    """A learner at the page; more of them in windows of their own."""
    contexts = []

    def come(page=PAGE, **options):
        contexts.append(browser.new_context(**options))
        return Learner(contexts[-1], site, page)

    yield come
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def at_work(browser, site):
    """A learner at the page whose Python is there already."""
    context = browser.new_context()
    yield Learner(context, site, PAGE)
    context.close()


def tab_to(learner, name):
    """Press Tab until the editor of an exercise has the focus, as slowly as a person: an editor comes when it is near."""
    for _ in range(200):
        learner.page.keyboard.press("Tab")
        what, where = focused(learner.page)
        if where == f"answer-{name}" and not what.startswith("Your answer"):
            learner.cell(name).locator(".in-page-editor [aria-label]").wait_for()
            learner.page.wait_for_timeout(50)
            what, where = focused(learner.page)
        if what == f"Your answer: {name}":
            return
    raise AssertionError(f"the editor of {name} is not reached with Tab")


def focused(page):
    """What has the focus: its name, and in which exercise."""
    return page.evaluate(
        "() => [document.activeElement.ariaLabel || document.activeElement.textContent.trim(),"
        " document.activeElement.closest('.answer-cell')?.id]"
    )


def test_a_chapter_can_be_done_with_the_keyboard_alone(visit):
    learner = visit()
    keyboard = learner.page.keyboard
    for name, answer in RIGHT.items():
        tab_to(learner, name)
        keyboard.press("ControlOrMeta+a")
        keyboard.insert_text(answer.rstrip())
        keyboard.press("Enter")
        keyboard.press("Tab")  # indents
        assert learner.text(name).endswith("\n        ")
        keyboard.press("Shift+Enter")
        learner.wait()
        assert learner.passes(name), learner.said(name)
        keyboard.press("Escape")
        keyboard.press("Tab")
        assert focused(learner.page) == ["Run", f"answer-{name}"]
    while focused(learner.page)[0] != "Download my notebook":
        keyboard.press("Escape")  # where it is an editor that has the focus now
        keyboard.press("Shift+Tab")
    with learner.page.expect_download():
        keyboard.press("Enter")


@pytest.mark.parametrize("editor", ["editor.js", "plain_editor.js"])
def test_the_keys_of_the_editor_do_what_they_say(visit, html, editor):
    learner = visit()
    script = (html / "_static" / "in_page" / editor).read_text(encoding="utf-8")
    learner.window.route("**/editor.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    learner.open()
    learner.write(FIRST, "x = 1\ny = 2")
    keyboard = learner.page.keyboard
    keyboard.press("ControlOrMeta+/")
    assert learner.text(FIRST) == "x = 1\n# y = 2"
    keyboard.press("ControlOrMeta+/")
    keyboard.press("Home")
    keyboard.press("Tab")
    assert learner.text(FIRST) == "x = 1\n    y = 2"
    if editor == "editor.js":  # where CodeMirror could not be had, these two are missing
        keyboard.press("Shift+Tab")
        assert learner.text(FIRST) == "x = 1\ny = 2"
        learner.page.wait_for_timeout(1000)  # what is written in one go is undone in one
        keyboard.type("z = 3; ")
        keyboard.press("ControlOrMeta+z")
        assert learner.text(FIRST) == "x = 1\ny = 2"
    keyboard.press("Escape")
    keyboard.press("Tab")
    assert focused(learner.page) == ["Run", f"answer-{FIRST}"]


@pytest.mark.parametrize("editor", ["editor.js", "plain_editor.js"])
@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("answer", [None, "# mine\n" * 9], ids=["stub", "kept answer"])
def test_a_button_stays_where_it_is_pressed_while_the_editor_comes(visit, html, editor, window, answer):
    learner = visit(**window)
    script = (html / "_static" / "in_page" / editor).read_text(encoding="utf-8")
    held = []
    learner.window.route("**/editor.js", lambda route: held.append(route))
    learner.keep({FIRST: answer} if answer else {}, STUBS)
    cell, mouse = learner.cell(FIRST), learner.page.mouse
    cell.locator(".in-page-buttons").scroll_into_view_if_needed()
    place = cell.get_by_role("button", name="Run").bounding_box()
    mouse.move(place["x"] + place["width"] / 2, place["y"] + 2)
    mouse.down()
    while not held:
        learner.page.wait_for_timeout(20)
    held[0].fulfill(body=script, content_type="text/javascript")
    assert learner.text(FIRST).strip() == (answer or STUBS[FIRST]).strip()
    mouse.up()
    assert cell.get_by_role("button", name="Run").bounding_box() == place
    assert cell.get_by_text("Running").is_visible()


def test_an_exercise_at_work_has_no_axe_violation_and_fits_the_window(at_work):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    at_work.write(SECOND, f"# {'a comment that is wider than the window ' * 5}\n{RIGHT[SECOND]}")
    at_work.write(FIRST, RAISES)
    at_work.run(FIRST)
    assert at_work.cell(FIRST).locator(".in-page-output:visible").count() == 2
    page = at_work.page
    context = {"include": [[f"#answer-{FIRST}"], [f"#answer-{SECOND}"], [".in-page-bar"]]}
    for mode, width in (("light", 1280), ("dark", 1280), ("light", 320)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("mode => (document.documentElement.dataset.theme = mode)", mode)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        violations = axe.run(page, context=context, options={"preload": False}).response["violations"]
        assert not [(one["id"], [node["html"][:150] for node in one["nodes"]]) for one in violations], mode
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_run_shows_what_was_printed_and_the_lines_of_an_error(at_work):
    learner = at_work
    learner.write(FIRST, RAISES)
    assert learner.run(FIRST) == "It stopped with an error:"
    error, printed = learner.cell(FIRST).locator(".in-page-output").all_inner_texts()
    assert printed == "before\n"
    assert error.splitlines()[:2] == [
        f"line 5: {FIRST}(np.ones((2, 3)), None)",
        f"line 2, in {FIRST}: return hs[len(hs)]",
    ]
    assert "pyodide" not in error
    live = learner.page.locator(".in-page-bar [role=status]").inner_text()
    assert "IndexError" in live, "who listens hears it too"


def test_stop_ends_it_and_python_begins_anew(at_work):
    learner = at_work
    learner.write(FIRST, "while True: pass")
    learner.press(FIRST, "Run")
    stop = learner.cell(FIRST).get_by_role("button", name="Stop")
    learner.page.wait_for_function("button => button.ariaDisabled === 'false'", arg=stop.element_handle())
    stop.click()
    learner.wait()
    assert learner.said(FIRST).startswith("Stopped.")
    learner.write(FIRST, "1 + 1")
    learner.run(FIRST)
    assert learner.cell(FIRST).locator(".in-page-output:visible").inner_text() == "2\n"


def test_reset_loses_nothing(visit):
    learner = visit()
    learner.write(FIRST, "x = 1")
    learner.press(FIRST, "Reset")
    assert learner.text(FIRST).strip() == STUBS[FIRST].strip()
    learner.open()
    learner.press(FIRST, "Bring my answer back")
    assert learner.text(FIRST) == "x = 1"


def test_an_answer_to_an_older_exercise_is_kept_and_the_change_is_said(visit):
    learner = visit()
    learner.keep({FIRST: "x = 1"}, {FIRST: "def older():\n    pass"})
    note = learner.cell(FIRST).get_by_role("note")
    assert "has changed since you began" in note.inner_text()
    assert learner.text(FIRST) == "x = 1"
    note.get_by_text("How it begins now").click()
    assert STUBS[FIRST].strip() in note.locator("pre").inner_text()
    note.get_by_role("button", name="Understood").click()
    learner.open()
    assert learner.text(FIRST) == "x = 1"
    assert learner.cell(FIRST).get_by_role("note").count() == 0


def test_two_windows_of_a_page_show_the_same_answer(visit):
    learner = visit()
    other = Learner(learner.window, learner.address.removesuffix(f"/{PAGE}.html"), PAGE)
    assert other.editor(FIRST)
    learner.write(FIRST, "x = 1")
    other.page.wait_for_function("cell => cell.textContent.includes('x = 1')", arg=other.cell(FIRST).element_handle())


def test_other_pages_hear_of_what_passes_by_the_agreed_key(at_work):
    learner = at_work
    learner.page.evaluate("addEventListener('course:progress', () => (window.heard = true), true)")
    key = f"course:exercise:{PAGE}:{FIRST}"
    learner.write(FIRST, RIGHT[FIRST])
    assert learner.page.evaluate("key => localStorage.getItem(key)", key) == "begun"
    learner.check(FIRST)
    assert learner.page.evaluate("key => localStorage.getItem(key)", key) == "passed"
    assert learner.page.evaluate("window.heard")


def test_a_browser_that_keeps_nothing_is_told(visit, browser, site):
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })")
    page = context.new_page()
    page.goto(f"{site}/{PAGE}.html")
    page.get_by_text("This browser keeps nothing for this page").wait_for()
    context.close()


def test_grade_takes_the_notebook_of_the_page(visit, tmp_path, sandbox):
    learner = visit()
    answers = RIGHT | {SECOND: "def weighted_sum(hs, a):\n    return hs.sum(axis=0)\n"}
    learner.keep(answers, STUBS)
    chapter = PAGE.split("/")[1]
    folder = tmp_path / "handed_in" / "kim" / chapter
    folder.mkdir(parents=True)
    learner.download(folder)
    command = [sys.executable, "-m", "autograder", "grade", str(tmp_path / "handed_in"), "--out", str(tmp_path / "out")]
    subprocess.run([*command, "--jobs", "1"], cwd=ROOT, check=True, capture_output=True, env=os.environ)
    rows = [line.split(",") for line in (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert {row[3]: row[6] for row in rows} == {name: "failed" if name == SECOND else "passed" for name in RIGHT}


# ---- where something is missing


def test_without_script_the_page_is_as_it_was(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/{PAGE}.html")
    assert page.locator(f"#answer-{FIRST} .cell_input pre").is_visible()
    assert not page.locator(".in-page-bar").is_visible()
    assert page.locator(".in-page-button").count() == 0
    assert page.locator(".where-to-do-it").get_by_text("Open in Colab").is_visible()
    context.close()


def test_a_page_opened_as_a_file_says_what_to_do(browser, html):
    context = browser.new_context()
    page = context.new_page()
    wrong = []
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.goto((html / f"{PAGE}.html").as_uri())
    assert "python -m http.server" in page.locator(".in-page-bar").inner_text()
    assert page.locator(f"#answer-{FIRST} .cell_input pre").is_visible()
    assert not [text for text in wrong if "in_page" in text]
    context.close()


def test_pages_that_need_pytorch_and_chapters_load_none_of_it(pages):
    for name, page in pages.items():
        loads = any("in_page/" in str(tag) for tag in page.find_all(["script", "link"]))
        assert loads == (name.removesuffix(".html") in NOTEBOOKS), name


def without_files_here(learner, serve):
    """Have a site that holds no Python: `serve(route)` answers for the public copy. The addresses asked there."""
    asked = []

    def nothing_here(route):
        site = json.loads(route.fetch().text())
        for file in site["files"].values():
            file["here"] = False
        route.fulfill(json=site)

    def public(route):
        asked.append(route.request.url)
        serve(route)

    learner.window.route("**/python.json", nothing_here)
    learner.window.route(re.compile(r"^https://"), public)
    return asked


def test_a_site_without_python_takes_the_public_copy_of_the_same_version(visit, html):
    learner = visit()
    folder = html / "_static" / "in_page" / "pyodide"
    if not folder.is_dir():
        pytest.skip("this site was built without Python: nothing to compare with")

    def serve(route):
        name = route.request.url.rsplit("/", 1)[1]
        kind = "application/wasm" if name.endswith(".wasm") else "text/javascript"
        headers = {"access-control-allow-origin": "*", "content-type": kind}
        route.fulfill(body=(folder / name).read_bytes(), headers=headers)

    asked = without_files_here(learner, serve)
    learner.write(FIRST, RIGHT[FIRST])
    assert learner.check(FIRST).startswith("Right so far")
    public = json.loads((ROOT / "book" / "in_page" / "python.json").read_text(encoding="utf-8"))["public_copy"]
    assert sorted(asked) == sorted(public + file.name for file in folder.iterdir())


@pytest.mark.parametrize("fault", ["no connection", "another file"])
def test_where_no_python_can_be_had_the_page_says_so(visit, fault):
    learner = visit()
    headers = {"access-control-allow-origin": "*", "content-type": "text/javascript"}
    changed = lambda route: route.fulfill(body="export const loadPyodide = () => {}", headers=headers)  # noqa: E731
    without_files_here(learner, changed if fault == "another file" else lambda route: route.abort())
    learner.write(FIRST, RIGHT[FIRST])
    assert learner.check(FIRST).startswith("Python could not be loaded")
    assert learner.text(FIRST).strip() == RIGHT[FIRST].strip()
