"""A teacher grades our results by hand in nbgrader's formgrader, and nothing of it is lost."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from conftest import ROOT
from made_up import check_cell, handed_in, make_course

from autograder.__main__ import main

api = pytest.importorskip("nbgrader.api", reason="the gradebook needs nbgrader: pip install -r requirements.txt")

SQUARED = {"double": "def double(x):\n    return x * x"}
ATTACK = "Because <script>document.title = 'stolen'</script><img src=x onerror=\"document.title = 'stolen'\"> of that."


@pytest.fixture
def course(tmp_path, monkeypatch, sandbox):
    """A course with one answer that only a teacher can grade, graded for two students."""
    make_course(tmp_path)
    path = tmp_path / "solutions" / "01_numbers" / "numbers.ipynb"
    write(path, path.read_bytes(), "Why is it so?\n\n### BEGIN SOLUTION\nBecause.\n### END SOLUTION")
    hand_in(tmp_path, "kim", handed_in(**SQUARED), ATTACK)
    hand_in(tmp_path, "lee", handed_in(), ATTACK)
    monkeypatch.chdir(tmp_path)
    assert main(["grade", "class", "--jobs", "1", "--formgrader"]) == 0
    return tmp_path


def hand_in(course, student, content, text):
    path = course / "class" / student / "01_numbers" / "numbers.ipynb"
    path.parent.mkdir(parents=True)
    write(path, content, text)


def write(path, content, text):
    """The notebook with a text cell that a teacher grades at its end."""
    notebook = json.loads(content)
    cell = check_cell("reflection", text, points=4)
    cell["metadata"]["nbgrader"] |= {"solution": True, "locked": False}
    notebook["cells"].append({name: cell[name] for name in ("id", "metadata", "source")} | {"cell_type": "markdown"})
    path.write_text(json.dumps(notebook), encoding="utf-8")


def rows(course):
    with (course / "graded" / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {(row["student"], row["exercise"]): row for row in csv.DictReader(file)}


def by_hand(course, check, score, comment="", extra=None):
    with api.Gradebook(f"sqlite:///{course / 'graded' / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade(check, "numbers", "01_numbers", "kim")
        grade.manual_score, grade.extra_credit = score, extra
        answer = check.removeprefix("test_")
        gradebook.find_comment(answer, "numbers", "01_numbers", "kim").manual_comment = comment or None
        gradebook.db.commit()


def test_formgrader_gets_the_source_with_the_learner_s_answers(course):
    path = course / "graded" / "autograded" / "kim" / "01_numbers" / "numbers.ipynb"
    cells = {cell["id"]: cell for cell in json.loads(path.read_bytes())["cells"]}
    assert cells["double"]["source"] == SQUARED["double"]
    assert cells["reflection"]["source"] == ATTACK.replace("<", "&lt;")
    assert "secret" in cells["test_double"]["source"]  # our hidden test, whatever the learner's copy held
    assert "1 came, 2 was expected" in cells["test_double"]["outputs"][0]["text"]
    assert cells["test_double"]["metadata"]["nbgrader"]["points"] == 2


@pytest.mark.parametrize("harm", [lambda text: text[:-100], lambda text: text.replace("123.25", "123.5")])
def test_what_was_graded_by_hand_stays_while_its_chapter_is_broken_or_changed(course, harm, capsys):
    by_hand(course, "reflection", 3.0)
    main(["grade", "class", "--jobs", "1"])
    before = rows(course)
    assert before["kim", "reflection"]["final_score"] == "3"
    path = course / "solutions" / "01_numbers" / "numbers.ipynb"
    (course / "solutions" / "02_more").mkdir()
    (course / "solutions" / "02_more" / "numbers.ipynb").write_bytes(path.read_bytes())
    path.write_text(harm(path.read_text("utf-8")), encoding="utf-8")
    capsys.readouterr()
    assert main(["grade", "class", "--jobs", "1", "--assignment", "02_more"]) == 0
    with (course / "graded" / "grades.csv").open(encoding="utf-8", newline="") as file:
        kept = [row for row in csv.DictReader(file) if row["assignment"] == "01_numbers"]
    assert {(row["student"], row["exercise"]): row for row in kept} == before
    assert "held other points" not in capsys.readouterr().out


def test_without_being_asked_nothing_is_written_for_formgrader(course):
    assert main(["grade", "class", "--jobs", "1", "--out", "plain"]) == 0
    assert not (course / "plain" / "autograded").exists()


def test_a_teacher_s_own_configuration_stays(course):
    config = course / "graded" / "nbgrader_config.py"
    config.write_text("c = get_config()\n")
    main(["grade", "class", "--jobs", "1", "--formgrader"])
    assert config.read_text() == "c = get_config()\n"


def test_a_cell_that_nobody_graded_yet_has_no_points_and_is_no_fault_of_ours(course):
    row = rows(course)["kim", "reflection"]
    assert (row["status"], row["score"], row["max_score"], row["final_score"]) == ("manual", "", "4", "")
    assert rows(course)["kim", "double"]["final_score"] == "0"


def test_scores_and_comments_by_hand_stay_and_reach_the_csv_and_the_pages(course):
    by_hand(course, "reflection", 3.5, "=Good, say why.")
    by_hand(course, "test_double", 1.0, extra=0.5)
    assert main(["grade", "class", "--jobs", "1"]) == 0
    found = rows(course)
    assert (found["kim", "reflection"]["manual_score"], found["kim", "reflection"]["final_score"]) == ("3.5", "3.5")
    assert found["kim", "reflection"]["comment"] == "'=Good, say why."
    row = found["kim", "double"]
    assert (row["score"], row["manual_score"], row["final_score"]) == ("0", "1.5", "1.5")
    page = (course / "graded" / "feedback" / "kim" / "01_numbers.html").read_text("utf-8")
    assert "=Good, say why." in page
    assert "With that, 5 of 9 points count." in page
    with api.Gradebook(f"sqlite:///{course / 'graded' / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("01_numbers", "kim").score == 5.0


def test_lateness_takes_from_points_by_hand_too(course):
    by_hand(course, "reflection", 4.0)
    (course / "policy.toml").write_text(
        "[chapters.01_numbers]\ndue = 2026-10-05T23:59:00Z\npercent_per_day = 25\n", encoding="utf-8"
    )
    (course / "class" / "kim" / "01_numbers" / "timestamp.txt").write_text("2026-10-06 12:00:00 UTC")
    assert main(["grade", "class", "--jobs", "1", "--policy", "policy.toml"]) == 0
    assert rows(course)["kim", "reflection"]["final_score"] == "3"
    with api.Gradebook(f"sqlite:///{course / 'graded' / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission("01_numbers", "kim")
        assert submission.notebooks[0].late_submission_penalty == 1.0
        assert submission.total_seconds_late == 12 * 3600 + 60


@pytest.mark.slow
def test_a_teacher_gives_points_and_a_comment_in_the_browser(course, browser):
    (course / "policy.toml").write_text("[chapters.01_numbers]\ndue = 2026-10-05T23:59:00Z\n", encoding="utf-8")
    for student in ("kim", "lee"):
        (course / "class" / student / "01_numbers" / "timestamp.txt").write_text("2026-10-06 12:00:00 UTC")
    grade = ["grade", "class", "--jobs", "1", "--policy", "policy.toml", "--formgrader"]
    assert main(grade) == 0
    with jupyter(course / "graded") as address:
        page = browser.new_page()
        page.goto(f"{address}/login?token=secret")
        page.goto(f"{address}/formgrader/gradebook")
        for name in ("01_numbers", "numbers", "Submission #1"):
            page.click(f"tbody >> text={name}")
        page.wait_for_selector("#reflection.needs_manual_grade")
        for cell, text in (("#reflection", "3.5"), ("#reflection-comment", "Say why."), ("#test_double", "1")):
            with page.expect_response(lambda response: response.request.method == "PUT") as saved:
                page.fill(cell, text)
                page.locator(cell).blur()
            assert saved.value.ok
        assert page.title() != "stolen"
        page.close()
    assert main(grade) == 0
    graded = next(student for student in ("kim", "lee") if rows(course)[student, "reflection"]["manual_score"])
    row = rows(course)[graded, "reflection"]
    assert (row["manual_score"], row["comment"], row["final_score"]) == ("3.5", "Say why.", "3.5")
    assert rows(course)[graded, "double"]["final_score"] == "1"


@contextlib.contextmanager
def jupyter(folder):
    """A Jupyter server with nbgrader in `folder`, as a teacher would start it; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    state = folder.parent / "jupyter"
    programs = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    own = {"JUPYTER_CONFIG_DIR": state, "JUPYTER_DATA_DIR": state, "JUPYTER_RUNTIME_DIR": state, "HOME": state}
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}, "PATH": programs}
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=secret"]
    server = subprocess.Popen(
        command, cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < until, "the server does not answer"
                assert server.poll() is None, "the server ended"
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)
