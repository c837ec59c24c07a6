"""What attackers try: each attack runs, and the damage is looked for. No gain, and the report says where to look."""

from __future__ import annotations

import csv
import dataclasses
import http.server
import json
import os
import threading
import time

import numpy as np
import pytest
from conftest import ROOT
from made_up import handed_in, made_up, own_cell

from autograder import limits
from autograder.__main__ import main
from autograder.differences import describe_difference
from autograder.link import Stopped, connect
from autograder.misconceptions import fingerprints, load
from autograder.submission import Submission, grade_submission
from autograder.suspicions import suspicions

RIGHT = "def double(x):\n    return 2 * x"
WRONG = "def double(x):\n    return x * x"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The course, its known mistakes, and where it lies."""
    assignment, notebook = made_up(tmp_path_factory.mktemp("course"))
    return assignment, fingerprints(notebook, load(assignment.folder))


@pytest.fixture
def attack(source, warm):
    """Grade one student's notebook and after it an honest one's, as a worker does; what became of the first."""
    assignment, known = source

    def grade(student, content):
        submission = Submission(student, "01_numbers", (("numbers", content),))
        return grade_submission(submission, assignment, warm.start, "", known)

    def mallory_then_kim(double, *, before=()):
        result = grade("mallory", handed_in(double=double, before=before))
        honest = grade("kim", handed_in(double=RIGHT)).exercises[0]
        assert (honest.status, honest.score) == ("passed", 2), "an honest student paid for the attack"
        return result

    return mallory_then_kim


@pytest.fixture
def grade_folder(source, sandbox, tmp_path, capsys):
    """The whole way, from files to pages: `grade_folder({name: content})` grades what lies in one student's folder."""
    root = source[0].folder.parents[1]
    if not (root / "exercises").exists():
        assert main(["--course", str(root), "release"]) == 0

    def grade(files):
        folder = tmp_path / "class" / "mallory" / "01_numbers"
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        out = tmp_path / "graded"
        assert main(["--course", str(root), "grade", str(tmp_path / "class"), "--out", str(out)]) == 0
        with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            return next(csv.DictReader(file)), out

    return grade


def first(result):
    return result.exercises[0]


PATCHES = {
    "allclose": "np.allclose = np.array_equal = lambda *a, **k: True",
    "testing": "np.testing.assert_allclose = lambda *a, **k: None",
    "builtins": "import builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\nbuiltins.len = lambda x: 0",
    "the hints": "import autograder.hints as h\nh.explain = lambda *a: ''",
    "the wire": "import autograder.wire as w\nw.decode = lambda *a: None",
    "asserts": (
        "import ast\n"
        "class Drop(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())"
    ),
    "the display": "import sys\nsys.displayhook = sys.excepthook = lambda *a: None",
    "tracebacks": "get_ipython().showtraceback = lambda *a, **k: None",
    "tracing": "import sys\nsys.settrace(lambda *a: None)",
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES.keys())
def test_a_patch_earns_nothing_and_is_flagged(attack, patch):
    result = attack(WRONG, before=(own_cell(patch),))
    assert first(result).score == 0
    assert result.flags


OBJECTS = {
    "equal to all": "class A(np.ndarray):\n    def __eq__(self, o): return True\n    __lt__ = __le__ = __eq__\n",
    "near to all": "class A(np.ndarray):\n    def __array_function__(self, *a): return True\n",
    "a float": "class A(float):\n    def __eq__(self, o): return True\n    def __sub__(self, o): return 0.0\n    view = 1\n",
}


@pytest.mark.parametrize("kind", OBJECTS.values(), ids=OBJECTS.keys())
def test_an_object_that_answers_comparisons_earns_nothing_and_is_flagged(attack, kind):
    make = "A(1.0)" if "float" in kind else "np.asarray(x).view(A)"
    result = attack(f"{kind}def double(x):\n    return {make}")
    assert first(result).score == 0
    assert result.flags


READERS = {
    "frames": (
        "import sys\n"
        "def look():\n"
        "    frame, found = sys._getframe(), []\n"
        "    while frame:\n"
        "        found += [*frame.f_locals.values(), frame.f_code.co_consts]\n"
        "        found += [v for v in frame.f_globals.values() if isinstance(v, (str, bytes, list, dict))]\n"
        "        frame = frame.f_back\n"
        "    return found\n"
    ),
    "memory": "import gc\ndef look(): return [o for o in gc.get_objects() if type(o) in (str, bytes, list, tuple, np.ndarray)]\n",
    "the notebook": "def look(): return [get_ipython().user_ns.get(n) for n in ('In', 'Out', '_ih', '_dh')]\n",
    "files": (
        "import os\n"
        "def look():\n"
        "    found = []\n"
        f"    for top in ('/tmp', '/dev/shm', '/proc', '/home', '/etc', {str(ROOT / 'solutions')!r}, {str(ROOT / 'tests')!r}):\n"
        "        for folder, folders, names in os.walk(top):\n"
        "            folders[:] = [f for f in folders if f not in ('.venv', 'autograder')]\n"  # seen by design
        "            for name in names[:200]:\n"
        "                try: found.append(open(os.path.join(folder, name), 'rb').read(200_000))\n"
        "                except OSError: pass\n"
        "    return found\n"
    ),
    "the environment": "import os\ndef look(): return dict(os.environ)\n",
    "a parent's memory": (
        "import ctypes, os\n"
        "def look():\n"
        "    try: return open(f'/proc/{os.getppid()}/mem', 'rb').read(10)\n"
        "    except OSError as e: return repr(e)\n"
    ),
}
SECRETS = ("246" + ".5", "expected" + " = np", "BEGIN HIDDEN", "TEACHERS_" + "SECRET")


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_no_test_no_value_and_no_secret_can_be_read(attack, reader, monkeypatch):
    monkeypatch.setenv("TEACHERS_" + "SECRET", "x")
    split = [secret[:3] + "|" + secret[3:] for secret in SECRETS]  # so that the answer itself does not hold them
    body = (
        f"{reader}"
        f"def double(x):\n"
        f"    text = repr(look())\n"
        f"    print('READ', [s for s in {split!r} if s.replace('|', '') in text])\n"
        f"    return 2 * x"
    )
    result = attack(body)
    printed = first(result).printed
    assert printed == "READ []\n"
    assert result.flags


def test_the_network_is_not_there(attack):
    asked = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    result = attack(
        "import urllib.request\n"
        "def double(x):\n"
        f"    try: urllib.request.urlopen('http://127.0.0.1:{server.server_port}/', timeout=1)\n"
        "    except OSError: pass\n"
        "    return 2 * x"
    )
    server.shutdown()
    assert not asked
    assert result.flags


BOMBS = {
    "forks": "import os\ndef double(x):\n    while True: os.fork()",
    "threads": (
        "import threading, time\n"
        "def double(x):\n"
        "    while True: threading.Thread(target=time.sleep, args=(60,)).start()"
    ),
    "programs": "import subprocess, sys\ndef double(x):\n    while True: subprocess.Popen([sys.executable, '-c', 'pass'])",
    "the disk": (
        "def double(x):\n    for n in range(10**6):\n        with open(f'/tmp/{n}', 'wb') as f: f.write(bytes(1 << 20))"
    ),
    "memory": "def double(x):\n    return [bytearray(1 << 28) for _ in range(1000)]",
    "loops that swallow": "def double(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "its own end": "import os\ndef double(x): os._exit(0)",
    "output": "def double(x):\n    while True: print('x' * 1000)",
    "a huge result": "def double(x): return np.zeros(10**8)",
    "depth": "def double(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_costs_its_own_exercise_alone(attack, short_limits, bomb):
    result = attack(bomb)
    assert first(result).score == 0
    assert first(result).status in ("error", "failed", "timeout", "memory", "died")
    assert first(result).message


def test_what_outlives_the_answer_is_gone(attack, tmp_path):
    attack(
        "import threading, time\n"
        "def later():\n"
        "    time.sleep(1)\n"
        f"    open({str(tmp_path / 'outlived')!r}, 'w').write('x')\n"
        "threading.Thread(target=later).start()\n"
        "def double(x): return 2 * x"
    )
    threading.Event().wait(1.2)
    assert not os.path.exists(tmp_path / "outlived")


def test_a_numpy_beside_the_notebook_is_not_imported(grade_folder):
    fake = b"def allclose(*a, **k): return True\n"
    beside = {"numpy.py": fake, "sitecustomize.py": b"import os; os._exit(0)", "autograder.py": fake}
    row, _ = grade_folder({"numbers.ipynb": handed_in(double=WRONG), **beside})
    assert (row["status"], float(row["score"])) == ("failed", 0)


def test_points_and_times_written_by_the_learner_count_for_nothing(grade_folder):
    notebook = json.loads(handed_in(double=WRONG))
    for cell in notebook["cells"]:
        cell["metadata"].setdefault("nbgrader", {}).update(points=1000, score=1000, grade=True)
    notebook["metadata"]["submitted"] = "1999-01-01"
    row, out = grade_folder({"numbers.ipynb": json.dumps(notebook).encode()})
    assert (float(row["score"]), float(row["max_score"])) == (0, 2)
    assert "1000" not in (out / "grades.csv").read_text("utf-8")


def test_an_answer_that_only_fits_what_can_be_seen_fails(attack):
    result = attack("def double(x):\n    return np.array([2.0, 4.0]) if x.shape == (2,) else 0 * x")
    assert first(result).score == 0


@pytest.mark.parametrize(
    "way",
    [
        "raise ValueError(repr(x))",
        "raise type('E' + repr(x.ravel().tolist()), (ValueError,), {})",
        "return x",
        "return repr(x)",
        "return {repr(x): 1}",
        "return type(repr(x), (), {})()",
        "print(x); return x",
        "import warnings; warnings.warn(repr(x)); return x",
    ],
)
def test_an_answer_cannot_show_its_writer_a_hidden_test_s_input(attack, way):
    result = attack(f"def double(x):\n    if x.ndim > 1: {way}\n    return 2 * x")
    shown = first(result).message + first(result).printed
    assert first(result).score == 0
    assert "123" not in shown


def test_pages_run_nothing_and_terminals_are_not_steered(grade_folder, capsys):
    double = (
        "def double(x):\n"
        "    print('<script>alert(1)</script>')\n"
        "    raise ValueError('</code><img src=x onerror=alert(1)>\\x1b]0;mine\\x07\\x1b[2J')"
    )
    row, out = grade_folder({"numbers.ipynb": handed_in(double=double)})
    page = (out / "feedback" / "mallory" / "01_numbers.html").read_text("utf-8")
    assert "onerror" in row["message"]
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "Content-Security-Policy" in page
    printed = capsys.readouterr()
    for text in (page, printed.out, printed.err, (out / "grades.csv").read_text("utf-8")):
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import socket", "socket"),
        ("import numpy as np\nnp.allclose = None", "np.allclose"),
        ("x = open('a')", "open"),
        ("class A:\n    def __eq__(self, o): return True", "__eq__"),
        ("exec('x')", "exec"),
        ("globals()['a'] = 1", "globals"),
        ("x.__dict__['allclose'] = None", "__dict__"),
        ("from importlib import reload", "importlib"),
        ("sys.modules['os']", "sys.modules"),
        ("with torch._C.DisableTorchFunction(): pass", "DisableTorchFunction"),
        ("from concurrent.futures import ThreadPoolExecutor", "concurrent"),
        ("from autograder.effort import Effort", "autograder"),
    ],
)
def test_what_stands_out_is_named_with_its_line(source, what):
    (sentence,) = suspicions(source)
    assert what in sentence
    assert f"line {source.count(chr(10)) + 1 if 'class' not in source else 2}" in sentence


@pytest.mark.parametrize(
    "source", ["def f(:", "\x00", "(" * 5000, "%matplotlib inline", "x = 1\nwalk = kill = 2", "list(layer.modules())"]
)
def test_what_is_ordinary_or_no_python_does_not_stand_out(source):
    assert list(suspicions(source)) == []


SIGNALS = ("SIGKILL", "SIGSTOP", "SIGTERM")


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_to_its_group_reaches_no_process_of_ours(attack, warm, name):
    server = warm._servers[False]
    result = attack(f"import os, signal\ndef double(x):\n    os.kill(0, signal.{name})\n    return x * x")
    assert first(result).score == 0
    assert result.flags
    assert warm._servers[False] is server
    assert server.alive


def test_a_notebook_s_time_is_up_however_many_cells_and_calls_share_it(attack, monkeypatch):
    """Each cell and each call keeps to its limit; together they would hold a worker for hours."""
    short = dataclasses.replace(limits.LIMITS, cell_seconds=5.0, submission_seconds=1.0)
    for module in ("link", "examiner"):
        monkeypatch.setattr(f"autograder.{module}.LIMITS", short)
    sleeping = tuple(own_cell("import time; time.sleep(0.7)") for _ in range(50))
    result = attack("import time\ndef double(x):\n    time.sleep(0.7)\n    return 2 * x", before=sleeping)
    assert [exercise.status for exercise in result.exercises] == ["timeout", "unanswered"]
    assert "whole notebook" in first(result).message
    assert len(result.flags) < 10


def test_time_is_up_within_a_function_of_ours_that_the_answer_calls(warm, short_limits):
    """A huge argument kept our own side busy past every limit, and the mark was `ungraded`, as if it were our fault."""

    def busy(number):
        while True:
            pass

    link = connect(warm.start)
    try:
        link.run("def call(f):\n    return f(1)", "")
        with pytest.raises(Stopped) as stopped:
            link.call("call", (busy,), {})
        assert stopped.value.status.name == "timeout"
        assert not link.alive
    finally:
        link.close()


def test_time_is_up_within_a_check_of_many_calls(warm):
    link = connect(warm.start)
    link.until = time.monotonic() + 0.3
    try:
        link.run("import time\ndef f(x): time.sleep(0.05)", "")
        with pytest.raises(Stopped, match="whole notebook"):
            list(map(link.answer("f"), range(100)))
    finally:
        link.close()


def test_code_that_takes_long_to_read_is_not_read(attack):
    result = attack("x = [" + "1," * 300_000 + "]\ndef double(x): return 2 * x")
    assert (first(result).status, first(result).score) == ("unreadable", 0)
    assert "KiB of code" in first(result).message


REMEMBERING = "SEEN = []\ndef double(x):\n    SEEN.append(x)\n    return 2 * x"
TELLING = {
    "printed": "def quadruple(x):\n    print(SEEN)\n    return 4 * x",
    "raised": "def quadruple(x): raise ValueError(SEEN)",
    "returned": "def quadruple(x): return str(SEEN)",
    "refused": "def quadruple(x): return type(str(SEEN), (), {})()",
    "raised by the cell": "raise ValueError(SEEN)\ndef quadruple(x): return 4 * x",
    "printed above": "print(SEEN)\ndef quadruple(x): return 4 * x",
}


@pytest.mark.parametrize("telling", TELLING.values(), ids=TELLING.keys())
@pytest.mark.parametrize("below", [(), (own_cell("helper = 1"),)], ids=["once", "once more"])
def test_a_hidden_input_that_was_remembered_is_not_told_in_a_later_check(source, warm, telling, below):
    assignment, known = source
    content = handed_in(double=REMEMBERING, quadruple=telling, after=below)
    submission = Submission("mallory", "01_numbers", (("numbers", content),))
    result = grade_submission(submission, assignment, warm.start, "", known)
    assert first(result).status == "passed"
    assert "123" not in repr(result).replace(str(known), "")


def test_numpy_s_own_message_shows_no_hidden_input(attack):
    told = "operands could not be broadcast together with shapes"
    result = attack(
        f"def double(x):\n    if x.ndim > 1: raise ValueError(f'{told} ({{int(x[0, 0])}},) (2,)')\n    return 2 * x"
    )
    assert first(result).status == "error"
    assert "123" not in first(result).message


def test_an_honest_shape_is_still_told_of_a_hidden_test(attack):
    message = first(attack("def double(x):\n    return 2 * x.T")).message
    assert "shape (3, 1) came, (1, 3) was expected" in message


@pytest.mark.parametrize(
    ("came", "wanted"),
    [
        (np.zeros((0, 123, 25)), np.zeros((1, 3))),
        (np.zeros((1, 3, 1, 3, 3, 3)), np.zeros((1, 3))),
        ((123.25, -7.5), (np.zeros(2), np.zeros(2), np.zeros(2))),
    ],
)
def test_a_hidden_difference_is_told_without_what_the_answer_wrote(came, wanted):
    text = describe_difference(came, wanted, hide_expected=True)
    assert text
    assert "123" not in text
    assert "3, 3, 3" not in text
