"""A made-up class and a small course for it: results as grading would give them, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import Course
from autograder.results import CheckResult, ExerciseResult, SubmissionResult

CHAPTER = "03_scores"
SANDBOX = "no network, own processes, read-only system, memory limit 2 GB, time limit 60 s"

HOSTILE = (
    "<script>alert('name')</script>",
    '=HYPERLINK("http://example.org","click")',
    "../../etc/passwd",
    'O\'Neil, "Ada"',
    "김민지",
    "ann [section 2]",
    "\x1b[31mred\x1b[0m",
    "nul\x00byte",
    "lone\udc80surrogate",
    "..",
)


@dataclass(frozen=True)
class Task:
    """An exercise of the made-up course, with one answer that is right and mistakes that people make."""

    notebook: str
    name: str
    points: tuple[float, ...]  # one a test cell
    answer: str
    wrong: dict[str, str]  # misconception: its sentence
    hard: float = 0.2  # the share of learners who do not get it right


TASKS = (
    Task(
        "scores",
        "dot_scores",
        (3.0,),
        "def dot_scores(hs, h):\n    return np.einsum('nth,nh->nt', hs, h)  # (N, T)\n",
        {"sum_over_steps": "`dot_scores` sums over the steps: the last axis left is T, so sum over H."},
        0.08,
    ),
    Task(
        "scores",
        "cosine_scores",
        (3.0,),
        "def cosine_scores(hs, h):\n    sizes = np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None]\n"
        "    dots = (hs * h[:, None, :]).sum(-1)\n"
        "    return np.divide(dots, sizes, out=np.zeros_like(dots), where=sizes > 0)\n",
        {
            "zero_vector": "A vector of length zero gives NaN here. It has no direction: let it score 0.",
            "norm_of_all": "The length is taken over the whole array. Each step has a length of its own: use axis=-1.",
        },
        0.3,
    ),
    Task(
        "scores",
        "additive_scores",
        (4.0,),
        "def additive_scores(hs, h, W_h, W_s, v):\n    return np.tanh(hs @ W_h + (h @ W_s)[:, None]) @ v\n",
        {"no_broadcast": "The decoder's part meets the wrong axis: it belongs to every step of its own row."},
        0.22,
    ),
    Task(
        "weights",
        "softmax",
        (2.0, 2.0),
        "def softmax(s, axis=-1):\n    s = s - s.max(axis=axis, keepdims=True)\n    e = np.exp(s)\n"
        "    return e / e.sum(axis=axis, keepdims=True)\n",
        {
            "axis_0": "row 0 sums to 1.170, not 1.0: softmax along the wrong axis?",
            "overflow": "exp of 10 000 is infinity. Subtract the largest score first: the weights stay the same.",
        },
        0.4,
    ),
    Task(
        "weights",
        "softmax_grad",
        (4.0,),
        "def softmax_grad(da, a):\n    return a * (da - (da * a).sum(-1, keepdims=True))\n",
        {"diagonal_only": "This is the diagonal of the Jacobian alone. Every weight moves when one score moves."},
        0.45,
    ),
    Task(
        "weights",
        "attend",
        (3.0,),
        "def attend(hs, h):\n    a = softmax(dot_scores(hs, h))\n    return np.einsum('nt,nth->nh', a, hs), a\n",
        {"order": "Two results came in the other order: the context first, then the weights."},
        0.15,
    ),
    Task(
        "weights",
        "simple_self_attention",
        (3.0,),
        "def simple_self_attention(X):\n    return softmax(X @ X.T) @ X  # (T, d)\n",
        {"scaled": "Divided by √d: this first form has no scaling yet."},
        0.25,
    ),
)

_FAMILY = (
    "kim",
    "lee",
    "park",
    "choi",
    "jung",
    "novak",
    "garcia",
    "okafor",
    "müller",
    "singh",
    "ito",
    "rossi",
    "haddad",
)
_GIVEN = (
    "minji",
    "jun",
    "seoyeon",
    "ada",
    "noor",
    "ravi",
    "mei",
    "lena",
    "tomas",
    "ife",
    "yuki",
    "sara",
    "omar",
    "eva",
)


def make_course(root: Path) -> Course:
    """A course with one chapter, two notebooks and the exercises of TASKS, written under `root`."""
    folder = root / "solutions" / CHAPTER
    folder.mkdir(parents=True)
    for name in ("scores", "weights"):
        cells = [new_markdown_cell(f"# {name}", id="title"), new_code_cell("import numpy as np", id="imports")]
        cells[0].metadata["nbgrader"] = _nbgrader(f"title_{name}", locked=True)
        for task in (task for task in TASKS if task.notebook == name):
            first, *body = task.answer.splitlines()
            source = "\n".join((first, "    ### BEGIN SOLUTION", *body, "    ### END SOLUTION"))
            cells.append(new_code_cell(source, id=task.name.replace("_", "-")))
            cells[-1].metadata["nbgrader"] = _nbgrader(task.name, solution=True)
            for check, points in zip(checks_of(task), task.points, strict=True):
                tests = (
                    f"assert callable({task.name})\n### BEGIN HIDDEN TESTS\nassert {task.name}\n### END HIDDEN TESTS"
                )
                cells.append(new_code_cell(tests, id=check.replace("_", "-")))
                cells[-1].metadata["nbgrader"] = _nbgrader(check, grade=True, locked=True, points=points)
        notebook = new_notebook(cells=cells)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return Course(root)


def checks_of(task: Task) -> tuple[str, ...]:
    return tuple(f"test_{task.name}" + ("" if number == 0 else "_large") for number in range(len(task.points)))


def student_names(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < count:
        name = f"{chance.choice(_FAMILY)}-{chance.choice(_GIVEN)}"
        names[name if name not in names else f"{name}{chance.randrange(2, 99)}"] = None
    return list(names)


def make_class(count: int, seed: int = 0, *, hostile: bool = False, ungraded: int = 0) -> list[SubmissionResult]:
    """`count` submissions of the chapter; with `hostile` the first ones bear the names of HOSTILE."""
    chance = random.Random(seed)
    names = student_names(count, seed)
    if hostile:
        names[: len(HOSTILE)] = HOSTILE[:count]
    return [make_submission(name, chance, lost=number < ungraded) for number, name in enumerate(names)]


def make_submission(student: str, chance: random.Random, *, lost: bool = False) -> SubmissionResult:
    fate = chance.random()
    gift = chance.uniform(0.3, 1.8)  # how hard this learner finds everything
    if lost:
        exercises = tuple(_nothing(student, task, "ungraded", "The machine that graded it stopped.") for task in TASKS)
    elif fate < 0.03:
        exercises = tuple(_nothing(student, task, "missing", "No file was handed in.") for task in TASKS)
    elif fate < 0.05:
        exercises = tuple(_nothing(student, task, "unreadable", "the file is empty") for task in TASKS)
    else:
        exercises = tuple(_exercise(student, task, chance, gift) for task in TASKS)
    repairs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    if chance.random() < 0.1:
        name = chance.choice(("scores (1).ipynb", "weights-final.IPYNB"))
        repairs = (f"'{name}' was read as the notebook it came from.",)
    if chance.random() < 0.08:
        repairs += ("The test cell `test_softmax` had been changed; the course's own was run.",)
    if chance.random() < 0.03:
        flags = ("The answer of `softmax` looked for the tests in the memory of its process.",)
    return SubmissionResult(student, CHAPTER, exercises, repairs, flags, SANDBOX)


def _nothing(student: str, task: Task, status: str, message: str) -> ExerciseResult:
    checks = tuple(
        CheckResult(check, 0.0, points, status, message)
        for check, points in zip(checks_of(task), task.points, strict=True)
    )
    return ExerciseResult(
        student, CHAPTER, task.notebook, task.name, 0.0, sum(task.points), status, message, checks=checks
    )


def _exercise(student: str, task: Task, chance: random.Random, gift: float) -> ExerciseResult:
    if chance.random() > task.hard * gift:
        return make_exercise(student, task, "passed")
    status = chance.choices(("failed", "error", "unanswered", "timeout", "memory", "died"), (70, 12, 12, 3, 1, 1))[0]
    mistake = chance.choice([*task.wrong, ""]) if status == "failed" else ""
    return make_exercise(student, task, status, mistake, hidden=chance.random() < 0.4)


def make_exercise(
    student: str, task: Task, status: str, mistake: str = "", *, hidden: bool = False, message: str | None = None
) -> ExerciseResult:
    """One exercise's result; with `hidden` its visible checks passed."""
    if message is None:
        message = _message(task, status, mistake)
    first = task.answer.splitlines()[0]
    answer = {
        "passed": task.answer,
        "unanswered": f"{first}\n    # YOUR CODE HERE\n    raise NotImplementedError()\n",
        "timeout": f"{first}\n    while True:\n        pass\n",
    }.get(status, task.answer.replace("-1", "0").replace("np.", "numpy.", 1))
    checks = []
    for number, (check, points) in enumerate(zip(checks_of(task), task.points, strict=True)):
        if status == "passed" or (status == "failed" and number < len(task.points) - 1):
            checks.append(CheckResult(check, points, points, "passed", visible_passed=True))
        else:
            seen = hidden and status == "failed"
            checks.append(CheckResult(check, 0.0, points, status, message, seen, mistake))
    printed = "scores: [[0.9544 1.495  1.4754]]\nshape (1, 3)\n" if status in ("failed", "error") else ""
    score = sum(check.score for check in checks)
    return ExerciseResult(
        student, CHAPTER, task.notebook, task.name, score, sum(task.points),
        status, message, mistake, answer, printed, tuple(checks),
    )  # fmt: skip


def _message(task: Task, status: str, mistake: str) -> str:
    return {
        "passed": "",
        "failed": task.wrong.get(mistake)
        or "The shape is right, (3, 5), but 9 of 15 values differ, first at [0, 1]: 0.1385 came.",
        "error": "NameError: name 'numpy' is not defined (line 3 of your answer)",
        "unanswered": "This exercise still holds its stub.",
        "timeout": f"`{task.name}` ran longer than 60 s and was stopped.",
        "memory": f"`{task.name}` needed more than 2 GB of memory.",
        "died": f"`{task.name}` ended its own process (exit code 0).",
    }[status]


def _nbgrader(grade_id: str, **fields: object) -> dict:
    flags = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"schema_version": 3, "grade_id": grade_id, **flags, **fields}
