"""What editors and learners leave in a notebook: for the made-up class of `sample`.

None of it changes what an answer is worth.
"""

from __future__ import annotations

import random
import re
from typing import Any

Notebook = dict[str, Any]

_EXTRA_CELLS = (
    "def show(name, x):\n    print(name, np.shape(x))",
    "# trying things out\nx = np.arange(6.0).reshape(2, 3)\nprint(x.sum(axis=0), x.sum(axis=1))",
    "np.set_printoptions(precision=3, suppress=True)",
    "%time sum(range(1000))",
)


def without_a_colon(source: str) -> str:
    """The answer with the colon after its first line forgotten: a SyntaxError."""
    broken, count = re.subn(r"^((?:def|class) .*):[ \t]*$", r"\1", source, count=1, flags=re.M)
    return broken if count else source + ")"


def with_a_misspelt_name(stub: str) -> str:
    """An answer whose result has another name where it is returned: a NameError when it is called."""
    return re.sub(
        r"^([ \t]*)raise NotImplementedError\(\)", r"\1result = 0\n\1return reslut", stub, count=1, flags=re.M
    )


def work_in(notebook: Notebook, wrong: dict[str, str], chance: random.Random, name: str) -> str:
    """Leave one learner's traces in `notebook`; the file name it is handed in under.

    `wrong`: the exercises that are not right, whose checks show an error.
    """
    if chance.random() < 0.3:
        _write_extra_cells(notebook, chance)
    if chance.random() < 0.8:
        _run(notebook, wrong)
    editor = chance.choice((_jupyter, _jupyter, _colab, _vs_code, _old_jupyter))
    editor(notebook, chance)
    if chance.random() < 0.1:
        _lose_marks(notebook, chance)
    return f"{name} (1).ipynb" if chance.random() < 0.04 else f"{name}.ipynb"


def _write_extra_cells(notebook: Notebook, chance: random.Random) -> None:
    """Cells of the learner's own, above answers and below."""
    cells = notebook["cells"]
    for source in chance.sample(_EXTRA_CELLS, chance.choice((1, 1, 2))):
        answers = [place for place, cell in enumerate(cells) if _mark(cell).get("solution")]
        place = chance.choice(answers) + chance.choice((0, 1))
        identity = "".join(chance.choices("0123456789abcdef", k=8))
        cells.insert(place, _code_cell(source, identity))


def _code_cell(source: str, identity: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": identity,
        "metadata": {},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def _run(notebook: Notebook, wrong: dict[str, str]) -> None:
    """Execution counts, and an error under each check of an answer that is not right."""
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        cell["execution_count"] = count
        tested = next((name for name in wrong if _mark(cell).get("grade_id", "").startswith(f"test_{name}")), None)
        if tested:
            error = "NotImplementedError" if wrong[tested] == "unanswered" else "AssertionError"
            message = "" if error == "NotImplementedError" else f"{tested} is not right yet"
            cell["outputs"] = [
                {
                    "ename": error,
                    "evalue": message,
                    "output_type": "error",
                    "traceback": [f"\x1b[31m{error}\x1b[39m: {message}"],
                }
            ]


def _jupyter(notebook: Notebook, chance: random.Random) -> None:
    notebook["metadata"]["language_info"] = {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": chance.choice(("3.11.7", "3.12.3", "3.13.1")),
    }


def _colab(notebook: Notebook, chance: random.Random) -> None:
    """Colab has its own cell ids in the metadata, and drops the format's."""
    notebook["metadata"] = {
        "colab": {"provenance": []},
        "kernelspec": {"display_name": "Python 3", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["metadata"]["id"] = "".join(chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij0123456789", k=12))
        if cell.get("outputs"):
            cell["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}


def _vs_code(notebook: Notebook, chance: random.Random) -> None:
    notebook["metadata"]["kernelspec"] = {"display_name": ".venv", "language": "python", "name": "python3"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and chance.random() < 0.3:
            cell["metadata"]["vscode"] = {"languageId": "python"}


def _old_jupyter(notebook: Notebook, chance: random.Random) -> None:
    """Notebook format 4.4 knows no cell ids."""
    notebook["nbformat_minor"] = 4
    for cell in notebook["cells"]:
        cell.pop("id", None)


def _lose_marks(notebook: Notebook, chance: random.Random) -> None:
    """Some cells' nbgrader metadata is gone: copied by hand into a new cell, say."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and chance.random() < 0.4:
            cell["metadata"].pop("nbgrader", None)


def _mark(cell: dict[str, Any]) -> dict[str, Any]:
    mark: dict[str, Any] = cell["metadata"].get("nbgrader", {})
    return mark
