"""Pack the built book into one zip, for readers without internet: unpack it and open `index.html`.

    python book/press/archive.py [FOLDER]

Wants a book built by `book/build.py` in FOLDER (default: the repository); writes `_build/attention-step-by-step.zip`
there, with the PDF where `pdf.py` has made one. The same book gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pdf import NAME, NO_BOOK, ROOT

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day that a zip can name
# What the pages do not load: the theme's own files, from which the bundles were made.
LEFT_OUT = (
    "_static/vendor",
    "_static/locales",
    "_static/styles",
    "_static/scripts",
    ".doctrees",
    ".buildinfo",
    "objects.inv",
)


def pack(folder: Path = ROOT) -> int:
    """Pack the book that was built into `folder` and return the exit status: 2 where there is none."""
    build = folder / "_build"
    if not (build / "html" / "index.html").exists():
        print(NO_BOOK.format(html=build / "html"), file=sys.stderr)
        return 2
    target = build / f"{NAME}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name in _files(build):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    print(f"open {os.path.relpath(target)}")
    return 0


def _files(build: Path) -> Iterator[tuple[Path, str]]:
    """Each file to pack and its name in the zip, in the same order everywhere."""
    html = build / "html"
    for path in sorted(html.rglob("*")):
        name = path.relative_to(html).as_posix()
        if path.is_file() and not name.startswith(LEFT_OUT) and path.suffix != ".map":
            yield path, name
    if (build / f"{NAME}.pdf").exists():
        yield build / f"{NAME}.pdf", f"{NAME}.pdf"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pack the built book into one zip.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=ROOT, help="default: the repository")
    sys.exit(pack(parser.parse_args().folder))
