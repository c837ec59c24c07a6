"""misconceptions.py is read as it is meant, its faults are named, and its answers are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_up import answer_cell, check_cell, given_cell, make_course, notebook

from autograder.course import Course
from autograder.errors import UsageError
from autograder.misconceptions import fingerprints, load

HEAD = "import numpy as np\nfrom autograder.misconceptions import probe, right, wrong\n"


@pytest.fixture
def course(tmp_path) -> Course:
    return make_course(tmp_path)


def write(course: Course, text: str) -> Path:
    folder = course.root / "solutions" / "01_numbers"
    (folder / "misconceptions.py").write_text(HEAD + text, encoding="utf-8")
    return folder


def made(course: Course, text: str):
    folder = write(course, text)
    return fingerprints(course.assignment("01_numbers").notebooks[0], load(folder))


def refused(course: Course, text: str) -> str:
    with pytest.raises(UsageError) as error:
        made(course, text)
    return str(error.value)


def test_a_variant_becomes_an_answer_under_the_exercises_name(course):
    text = '''
@wrong("double", "first", "second")  # a comment
def halves(x, depth=0):
    """Calls itself."""
    말 = "가나다"; return 말 and (x if depth else halves(x, depth=1))
'''
    (variant,) = load(write(course, text)).variants
    assert (variant.id, variant.exercise, variant.sentences, variant.is_right) == (
        "halves",
        "double",
        ("first", "second"),
        False,
    )
    assert variant.source.startswith("def double(x, depth=0):\n")
    namespace = {}
    exec(variant.source, namespace)
    assert namespace["double"](7) == 7
    assert "halves" not in namespace


def test_a_class_becomes_an_answer_too(course):
    text = """
@right("double")
class Doubler(dict):
    def __init__(self, x):
        super(Doubler, self).__init__(x=2 * x)
"""
    (variant,) = load(write(course, text)).variants
    namespace = {}
    exec(variant.source, namespace)
    assert namespace["double"](3) == {"x": 6}
    assert variant.is_right


def test_a_chapter_without_misconceptions_has_none(course):
    folder = course.root / "solutions" / "01_numbers"
    (folder / "misconceptions.py").unlink()
    assert load(folder).variants == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('@wrong("tripel", "no")\ndef f(x): return x\n', ("'tripel'", "double, quadruple")),
        ('probe("tripel", 1)\n', ("'tripel'", "double, quadruple")),
        ('@wrong("double")\ndef f(x): return x\n', ("line 4", "'f' has no sentence")),
        ('@wrong("double", " ")\ndef f(x): return x\n', ("'f' has no sentence",)),
        (
            '@wrong("double", "a")\ndef f(x): return x\n@wrong("double", "b")\ndef f(x): return -x\n',
            ("two answers are named 'f'", "lines 4, 6"),
        ),
        ("def f(:\n", ("line 3", "invalid syntax")),
        ('probe("double", undefined)\n', ("line 3", "NameError", "undefined")),
        ('probe("double", object())\n', ("line 3", "object cannot be written as data")),
    ],
)
def test_a_fault_is_named_with_its_place(course, text, said):
    message = refused(course, text)
    assert "misconceptions.py" in message
    for part in said:
        assert part in message


WRONG = '@wrong("double", "one")\ndef {id}(x): return {value}\n'


def test_a_wrong_answer_that_no_probe_shows_is_refused(course):
    message = refused(course, 'probe("double", 2.0)\n' + WRONG.format(id="squared", value="x * x"))
    assert "'squared' gives what the right 'double' gives" in message
    assert "add a probe" in message


def test_two_wrong_answers_that_no_probe_tells_apart_are_refused(course):
    text = 'probe("double", 0.0)\nprobe("double", 2.0)\n'
    text += WRONG.format(id="cubed", value="x**3") + WRONG.format(id="four_times", value="4 * x")
    message = refused(course, text)
    assert "'four_times' cannot be told from 'cubed'" in message
    made(course, text + 'probe("double", 3.0)\n')  # one more probe, and all is well


def test_a_right_answer_that_gives_something_else_is_refused(course):
    message = refused(course, 'probe("double", 2.0)\n@right("double")\ndef off(x): return 2.1 * x\n')
    assert "the right answer 'off'" in message
    assert "4.2" in message


def test_all_faults_are_said_at_once(course):
    text = 'probe("double", 2.0)\n' + WRONG.format(id="squared", value="x * x")
    text += '@right("double")\ndef off(x): return 2.1 * x\n'
    assert len(refused(course, text).splitlines()) == 2


def test_a_wrong_answer_without_any_probe_is_refused(course):
    assert "no probe" in refused(course, WRONG.format(id="same", value="x"))


def test_a_changed_argument_a_warning_and_an_error_are_enough_to_tell(course):
    text = """
probe("double", np.array([1.0, 0.0]))

@wrong("double", "in place")
def in_place(x):
    x *= 2
    return x

@wrong("double", "warns")
def warns(x):
    with np.errstate(all="warn"):
        return x + x + 0 * np.nan_to_num(np.log(np.abs(x)), neginf=0.0)

@wrong("double", "raises")
def raises(x):
    return x.twice()
"""
    table = made(course, text)["double"]
    assert [mistake.id for mistake in table.mistakes] == ["in_place", "warns", "raises"]
    in_place, warns, _ = table.mistakes
    assert "values" not in in_place.shows[0]["result"]  # the right answer's numbers are not given away
    assert "values" not in warns.shows[0]["result"]


def test_a_variant_sees_the_references_of_other_exercises(course):
    text = 'probe("quadruple", 5.0)\n@wrong("quadruple", "once")\ndef once(x): return double(x)\n'
    (mistake,) = made(course, text)["quadruple"].mistakes
    assert mistake.shows[0]["result"] == {"is": "float", "value": 10.0}


def test_an_answer_with_draws_of_its_own_is_known_whatever_it_draws(course):
    text = """
probe("double", np.array([1.0, -2.0, 5.0]))
probe("double", np.array([3.0]))

@wrong("double", "own draws")
def drawn(x): return x * np.random.default_rng().uniform(2, 3, size=x.shape)

@wrong("double", "three times the single ones")
def three_times(x): return 3 * x if x.size == 1 else 2 * x + 1
"""
    table = made(course, text)["double"]
    drawn, three_times = table.mistakes
    assert drawn.shows == {0: {"unsteady": True}, 1: {"unsteady": True}}
    three, two = ({"result": {**three_times.shows[1]["result"], "values": [value]}} for value in (9.0, 6.0))
    for by_chance in (three, two, {"unsteady": True}):  # what two draws may give for the single number
        assert table.recognise([{"unsteady": True}, by_chance]) == drawn
    right = [{"result": {**outlined["result"], "values": [0.0] * 3}} for outlined in table.right]
    assert table.recognise(right) is None


def test_fingerprints_hold_numbers_and_no_value_of_the_right_answer(course):
    text = 'probe("double", np.array([1.25, 3.5]))\n' + WRONG.format(id="squared", value="x * x")
    plain = made(course, text)["double"].plain()
    written = json.dumps(plain)
    assert "def " not in written
    assert "return" not in written
    assert "7.0" not in written  # 2 · 3.5
    assert plain["right"] == [{"result": {"is": "array", "of": "float", "shape": [2]}}]


def test_a_module_can_be_probed(tmp_path):
    pytest.importorskip("torch")
    given = "import numpy as np\nimport torch\nfrom torch import nn"
    answer = """class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.ones(width))

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.w * x
        ### END SOLUTION
"""
    cells = [given_cell("given", given), answer_cell("Scale", answer), check_cell("test_Scale", "assert Scale(2)")]
    folder = tmp_path / "solutions" / "06_modules"
    folder.mkdir(parents=True)
    (folder / "modules.ipynb").write_text(json.dumps(notebook(*cells)))
    text = """
from autograder.probes import ModuleProbe
probe("Scale", ModuleProbe(init={"width": 3}, call=(np.array([[1.0, 2.0, 4.0]]),)))

@wrong("Scale", "the weights are not used")
class Unused(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x

@wrong("Scale", "no gradient reaches the weights")
class Detached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.w.detach() * x
"""
    (folder / "misconceptions.py").write_text(HEAD + "import torch\nfrom torch import nn\n" + text)
    table = fingerprints(Course(tmp_path).assignment("06_modules").notebooks[0], load(folder))["Scale"]
    assert [len(mistake.shows) for mistake in table.mistakes] == [1, 1]


def test_the_decorators_leave_a_file_that_is_imported_alone():
    from autograder.misconceptions import probe, right, wrong

    probe("anything", np.zeros(2))
    assert wrong("anything", "no")(len) is len
    assert right("anything")(len) is len
