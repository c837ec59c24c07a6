"""What in a learner's code a teacher should look at: code that no exercise asks for and attacks need.

A reading of the source, without running it. It changes no score: what the code tries is held back
elsewhere (the two processes, the sandbox), and there may be an honest reason for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.syntax import parsed
from autograder.words import say

_LOOKS_AROUND = {
    "ctypes",
    "gc",
    "inspect",
    "importlib",
    "linecache",
    "_getframe",
    "_current_frames",
    "settrace",
    "setprofile",
    "get_ipython",
    "ast_transformers",
    "__globals__",
    "__dict__",
    "__code__",
    "__closure__",
    "__subclasses__",
    "tb_frame",
    "f_back",
    "f_locals",
    "f_globals",
}
_REACHES_OUT = {
    "socket",
    "subprocess",
    "multiprocessing",
    "urllib",
    "requests",
    "http",
    "ftplib",
    "signal",
    "pty",
    "system",
    "popen",
    "fork",
    "forkpty",
    "kill",
    "execv",
    "_exit",
    "abort",
}
# What an answer computes is counted in the thread in which it is called, above PyTorch's own code.
_HIDES_WORK = {
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_C",
    "threading",
    "_thread",
    "concurrent",
    "asyncio",
    "autograder",
}
_TOUCHES_FILES = {"open", "glob", "shutil", "tempfile", "pathlib", "listdir", "scandir", "walk", "environ", "getenv"}
_TELLING = {"looks": _LOOKS_AROUND, "reaches": _REACHES_OUT, "hides": _HIDES_WORK, "files": _TOUCHES_FILES}
_ANSWERS_COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__array_function__"}
_BUILT_IN = {"open", "get_ipython"}
_GIVEN = {"np", "torch", "nn", "F", "__builtins__"}  # imported by the notebooks' own cells, or always there


def suspicions(source: str) -> Iterator[str]:
    """A sentence for each kind of thing that stands out in some code; nothing for code that is not Python."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    modules = {name for node in nodes for name in _imported(node)} | _GIVEN
    seen: dict[str, tuple[int, str]] = {}
    for node in nodes:
        for kind, name in _kinds(node, modules):
            line = getattr(node, "lineno", 0)
            if kind not in seen or line < seen[kind][0]:
                seen[kind] = (line, name)
    for kind, (line, name) in sorted(seen.items(), key=lambda item: item[1]):
        yield say(f"suspicion.{kind}", name=name, line=line)


def _imported(node: ast.AST) -> Iterator[str]:
    """The names that an import binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)


def _kinds(node: ast.AST, modules: set[str]) -> Iterator[tuple[str, str]]:
    """What one piece of syntax shows: kinds, each with the name that shows it."""
    for name in _names(node):
        for kind, names in _TELLING.items():
            if name in names:
                yield kind, name
    if isinstance(node, ast.FunctionDef) and node.name in _ANSWERS_COMPARISONS:
        yield "compares", node.name
    targets = node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        if isinstance(target, ast.Attribute) and _root(target) in modules:
            yield "patches", ast.unparse(target)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        yield "patches", node.func.id
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("exec", "eval", "compile", "globals", "vars", "__import__")
    ):
        yield "looks", node.func.id
    is_modules = isinstance(node, ast.Attribute) and node.attr == "modules"
    if is_modules and isinstance(node.value, ast.Name) and node.value.id == "sys":  # a PyTorch module's is honest
        yield "looks", "sys.modules"


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (part for alias in node.names for part in alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name) and node.id in _BUILT_IN:  # any other name is the learner's own
        yield node.id


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
