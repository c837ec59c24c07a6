"""The notebooks that readers take away: each beside its page, and once more as Colab opens it.

Colab opens one file of a repository, without the files around it. So the copies for Colab begin with a cell that
fetches the course; they come to lie in `_build/colab`, and the publishing workflow puts them on a branch of their own,
`colab`. An exercise's notebook beside its page is the released one to the byte: it is what a learner hands in.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

EXERCISES = "exercises/"
COLAB_BRANCH = "colab"

# What a chapter imports lies in its folder; the cell also helps a notebook that was downloaded alone.
FETCH_MODULES = """\
# Fetches the modules that this page imports, where they are not at hand.
from importlib.util import find_spec

if find_spec("figures") is None:
    !git clone --quiet --depth 1 --branch {branch} {repository} course
    %cd -q course/book"""

# In a grader's process this cell must do nothing, whatever is installed there.
FETCH_HINTS = """\
# In Colab: fetches the hints. Elsewhere it does nothing.
try:
    import google.colab
except ImportError:
    pass
else:
    !git clone --quiet --depth 1 --branch {branch} {repository} /content/course
    !pip install --quiet /content/course
    %cd -q /content/course/{folder}"""


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_notebooks)


def is_notebook(app: Sphinx, docname: str) -> bool:
    return docname in app.env.found_docs and Path(app.env.doc2path(docname)).suffix == ".ipynb"


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Put each notebook beside its page, and the copy for Colab where the workflow finds it."""
    if exception is not None or app.builder.format != "html":
        return
    shutil.rmtree(Path(app.outdir).parent / "colab", ignore_errors=True)  # of pages that are no more
    for docname in sorted(app.env.found_docs):
        if not is_notebook(app, docname):
            continue
        source = Path(app.env.doc2path(docname))
        beside = Path(app.outdir, f"{docname}.ipynb")
        colab = Path(app.outdir).parent / "colab" / f"{docname}.ipynb"
        for target in (beside, colab):
            target.parent.mkdir(parents=True, exist_ok=True)
        opened = with_fetching(source.read_text(encoding="utf-8"), docname, app.config.html_theme_options)
        colab.write_text(opened, encoding="utf-8")
        shutil.copyfile(source if docname.startswith(EXERCISES) else colab, beside)


def with_fetching(text: str, docname: str, options: dict[str, str]) -> str:
    """The notebook `text` with a first cell that fetches what the page `docname` needs."""
    notebook = json.loads(text.replace("{{repository}}", options["repository_url"]))
    cell = FETCH_HINTS if docname.startswith(EXERCISES) else FETCH_MODULES
    source = cell.format(
        branch=options["repository_branch"],
        repository=options["repository_url"],
        folder=PurePosixPath(docname).parent,
    )
    notebook["cells"].insert(
        0,
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "fetch-the-course",
            "metadata": {},
            "outputs": [],
            "source": source,
        },
    )
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
