"""What of this package travels to a browser: a module, and the others that it imports."""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same files make the same zip


def files_needed(module: str) -> tuple[Path, ...]:
    """The files of `autograder.<module>` and of all that it imports from this package, also within functions."""
    found: dict[str, Path] = {"__init__": PACKAGE / "__init__.py"}
    left = [module]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = PACKAGE / f"{name}.py"
            left += _imports(found[name])
    return tuple(sorted(found.values()))


def pack(module: str) -> bytes:
    """A zip of these files, from which Python can import `autograder.<module>`."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files_needed(module):
            entry = zipfile.ZipInfo(f"{PACKAGE.name}/{file.name}", _LONG_AGO)
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _imports(file: Path) -> Iterator[str]:
    """The modules of this package that a file names in its imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
            yield from (alias.name for alias in node.names if (PACKAGE / f"{alias.name}.py").is_file())
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE.name}."):
            yield (node.module or "").split(".")[1]
