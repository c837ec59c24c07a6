"""Run a page of the book outside Jupyter, and hold its shape comments against what the machine says.

A line such as `a = softmax(s)  # (L, S)` claims a shape. While the page runs, each such line is
checked right after it ran: as many axes as the comment has entries, numbers as they stand, and a letter
the same size wherever it stands in one call, one cell, or one turn of a loop.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

_COMMENT = re.compile(r"#\s*\(([^()]*,[^()]*)\)\s*(?:$|[=:;,.])")  # not "# (T, 1) * (T, H)": parts of the line


@dataclass(frozen=True)
class Claim:
    """A shape comment: what it is about ("" for what a function returns), and its entries."""

    name: str
    entries: tuple[str, ...]
    line: int
    bound: frozenset[str] = frozenset()  # entries to which the same cell gives a value: that value is their size


@dataclass
class Page:
    """What running a page found."""

    checked: int = 0
    wrong: list[str] = field(default_factory=list)


def run(path: Path, seed: int | None = None) -> Page:
    """Run all code cells of the notebook at `path`; `seed` takes the place of its `SEED = 0`. Raises what a cell raises."""
    page = Page()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    claims: dict[str, dict[int, Claim]] = {}
    notebook = json.loads(path.read_text(encoding="utf-8"))
    tracer = _tracer(claims, page)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        if seed is not None:
            source = re.sub(r"^SEED = \d+", f"SEED = {seed}", source, flags=re.M)
        name = f"<{path.stem}:{cell['id']}>"
        claims[name] = shape_claims(source)
        code = compile(source, name, "exec")
        sys.settrace(tracer)
        try:
            exec(code, namespace)
        finally:
            sys.settrace(None)
    return page


def shape_claims(source: str) -> dict[int, Claim]:
    """The shape comments of a cell, by the first line of the statement that each stands at the end of."""
    comments = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if found:
            comments[token.start[0]] = tuple(part.strip() for part in found[1].split(",") if part.strip())
    claims = {}
    tree = ast.parse(source)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        entries = comments.get(getattr(node, "end_lineno", 0) or 0)
        if entries is None or any(entry.isdecimal() and entry != str(int(entry)) for entry in entries):  # "4,000"
            continue
        bound = frozenset(entries) & stored
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            claims[node.lineno] = Claim(node.targets[0].id, entries, node.lineno, bound)
        elif isinstance(node, ast.Return):
            claims[node.lineno] = Claim("", entries, node.lineno, bound)
    return claims


def _tracer(claims: dict[str, dict[int, Claim]], page: Page) -> Any:
    def trace(frame: Any, event: str, argument: Any) -> Any:
        own = claims.get(frame.f_code.co_filename)
        if not own:
            return None
        last: list[int] = []
        sizes: dict[str, int] = {}
        seen: set[int] = set()

        def after_a_line(frame: Any, event: str, argument: Any) -> Any:
            claim = own.get(last[0]) if last else None
            if claim and claim.line in seen:  # a loop's next turn may have other sizes
                sizes.clear()
                seen.clear()
            if claim:
                seen.add(claim.line)
            if claim:
                for letter in claim.bound:
                    if type(frame.f_locals.get(letter)) is int:
                        sizes[letter] = frame.f_locals[letter]
            if claim and claim.name and event in ("line", "return") and claim.name in frame.f_locals:
                _hold(claim, frame.f_locals[claim.name], sizes, frame.f_code.co_filename, page)
            elif claim and not claim.name and event == "return" and argument is not None:
                _hold(claim, argument, sizes, frame.f_code.co_filename, page)
            last[:] = [frame.f_lineno]
            return after_a_line

        return after_a_line

    return trace


def _hold(claim: Claim, value: Any, sizes: dict[str, int], where: str, page: Page) -> None:
    """Compare one value's shape with what its comment says."""
    shape = tuple(getattr(value, "shape", np.shape(value) if isinstance(value, int | float | list) else ()))
    entries = claim.entries
    leading = bool(entries) and entries[0] == "..."
    entries = entries[1:] if leading else entries
    page.checked += 1
    said = f"{where} line {claim.line}: {claim.name or 'returns'} # ({', '.join(claim.entries)}) is {shape}"
    if len(shape) != len(entries) and not (leading and len(shape) >= len(entries)):
        page.wrong.append(said)
        return
    for entry, size in zip(reversed(entries), reversed(shape), strict=False):
        expected = int(entry) if entry.isdecimal() else sizes.setdefault(entry, size) if entry.isidentifier() else size
        if expected != size:
            page.wrong.append(f"{said}, but {entry} was {expected}")
            return
