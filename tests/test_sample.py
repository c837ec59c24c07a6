"""The made-up class is the same every time, and is what its records say."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from made_up import make_course

from autograder.course import Course
from autograder.errors import UsageError
from autograder.release import make, release
from autograder.sample import SampleAnswer, answered, make_sample

STUDENTS = 60


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    course = make_course(tmp_path_factory.mktemp("course"))
    release(course)
    return course


@pytest.fixture(scope="module")
def sample(course, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample") / "class"
    return folder, make_sample(course, folder, STUDENTS, 0)


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def source_of(notebook: dict, exercise: str) -> str:
    """The last code cell that defines the exercise."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return next(source for source in reversed(sources) if source.startswith((f"def {exercise}(", f"class {exercise}")))


def test_the_same_class_and_seed_give_the_same_files(course, sample, tmp_path):
    folder, answers = sample
    assert make_sample(course, tmp_path / "again", STUDENTS, 0) == answers
    assert files(tmp_path / "again") == files(folder)
    assert make_sample(course, tmp_path / "other", STUDENTS, 1) != answers


def test_a_student_is_the_same_in_a_smaller_class(course, sample, tmp_path):
    folder, answers = sample
    few = make_sample(course, tmp_path / "few", 10, 0)
    assert few == answers[: len(few)]
    assert files(tmp_path / "few").items() <= files(folder).items()


def test_the_class_is_mostly_right_and_every_kind_of_work_is_in_it(sample):
    _, answers = sample
    kinds = Counter(answer.kind for answer in answers)
    assert set(kinds) == {"right", "wrong", "unanswered", "error", "missing", "unreadable"}
    assert kinds["right"] > len(answers) / 2
    assert {answer.variant for answer in answers if answer.kind == "wrong"} == {"squared", "only_doubled"}
    assert {answer.variant for answer in answers if answer.kind == "right"} == {"", "added", "multiplied"}


def test_each_student_has_a_record_for_each_exercise(sample):
    folder, answers = sample
    assert len(answers) == STUDENTS * 2
    assert sorted({answer.student for answer in answers}) == sorted(path.name for path in folder.iterdir())


def test_what_stands_in_the_file_is_what_the_record_says(course, sample):
    folder, answers = sample
    exercises = {exercise.name: exercise for exercise in course.assignment("01_numbers").exercises}
    for answer in answers:
        written = list((folder / answer.student).rglob("*.ipynb"))
        if answer.kind == "missing":
            assert written == []
            continue
        (path,) = written
        assert path.parent.name == answer.assignment
        if answer.kind == "unreadable":
            with pytest.raises(json.JSONDecodeError):
                json.loads(path.read_bytes())
            continue
        source = source_of(json.loads(path.read_bytes()), answer.exercise)
        stub = exercises[answer.exercise].stub
        if answer.kind == "error":
            assert breaks(source)
        elif answer.kind == "unanswered":
            assert source == stub
        else:
            assert value(source, answer) == (answer.kind == "right")


def test_a_right_answer_that_calls_a_wrong_one_says_so(sample):
    _, answers = sample
    for answer in answers:
        if answer.exercise == "double" or answer.variant == "multiplied":
            assert answer.held_back_by == ()
        elif answer.kind == "right":
            double = next(a for a in answers if a.student == answer.student and a.exercise == "double")
            assert answer.held_back_by == (() if double.kind == "right" else ("double",))
    assert any(answer.held_back_by for answer in answers)


def breaks(source: str) -> bool:
    namespace = {}
    try:
        exec(source, namespace)
        next(part for name, part in namespace.items() if name != "__builtins__")(3)
    except (SyntaxError, NameError):
        return True
    return False


def value(source: str, answer: SampleAnswer) -> bool:
    namespace = {"double": lambda x: 2 * x}
    exec(source, namespace)
    return namespace[answer.exercise](3) == {"double": 6, "quadruple": 12}[answer.exercise]


def test_files_look_like_those_of_several_editors(sample):
    folder, _ = sample
    texts = [content.decode(errors="replace") for content in files(folder).values()]
    for trace in ('"colab"', '"vscode"', '"codemirror_mode"', '"output_type": "error"', "%time", '"nbformat_minor": 4'):
        assert any(trace in text for text in texts), trace
    assert any('"nbgrader"' in text and text.count('"grade_id"') < 5 for text in texts)  # marks were lost
    assert any(name.endswith(" (1).ipynb") for name in files(folder))


def test_a_sample_is_replaced_and_nothing_else_is(course, tmp_path):
    folder = tmp_path / "class"
    make_sample(course, folder, 3, 0)
    make_sample(course, folder, 2, 0)
    assert len(list(folder.iterdir())) == 2
    (folder / "thesis.docx").write_text("work of a year")
    with pytest.raises(UsageError, match="holds something that is no sample"):
        make_sample(course, folder, 2, 0)
    assert (folder / "thesis.docx").exists()


def test_a_class_without_students_is_refused(course, tmp_path):
    with pytest.raises(UsageError, match="at least one"):
        make_sample(course, tmp_path / "class", 0, 0)


def test_without_a_release_one_is_made_in_memory(sample, tmp_path):
    folder, answers = sample
    bare = make_course(tmp_path / "bare")
    assert make_sample(bare, tmp_path / "class", STUDENTS, 0) == answers
    assert files(tmp_path / "class") == files(folder)
    assert not (bare.root / "exercises").exists()


def test_answers_go_into_their_cells_and_nothing_else_changes(course):
    released = json.loads(make(course.assignment("01_numbers"))["numbers.ipynb"])
    before = json.dumps(released)
    made = json.loads(answered(released, {"double": "def double(x):\n    return x + x\n"}))
    assert json.dumps(released) == before
    assert made["cells"][1]["source"] == ["def double(x):\n", "    return x + x\n"]
    assert [cell for place, cell in enumerate(made["cells"]) if place != 1] == [
        cell for place, cell in enumerate(released["cells"]) if place != 1
    ]
    with pytest.raises(KeyError, match="triple"):
        answered(released, {"triple": ""})
