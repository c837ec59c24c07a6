"""A learner at an exercise page: writes, runs, checks, and reads what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SECONDS = 1000
PATIENCE = 240 * SECONDS  # for Python to start on a machine that has much else to do


class Learner:
    """One window with one page. Its clock can be put forward, so that nobody waits for an endless loop."""

    def __init__(self, window: Any, site: str, page: str) -> None:
        self.window, self.address, self.page_name = window, f"{site}/{page}.html", page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        window.on("request", lambda request: self.asked.append(request.url))
        self.page = window.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.clock.install()
        self.open()

    def open(self) -> None:
        self.page.goto(self.address, wait_until="load")
        self.page.wait_for_selector(".in-page-bar .in-page-button")

    def keep(self, answers: dict[str, str], stubs: dict[str, str]) -> None:
        """Have these answers from an earlier visit."""
        for name, answer in answers.items():
            entry = json.dumps({"stub": stubs[name], "answer": answer, "before": None})
            key = f"course:answer:{self.page_name}:{name}"
            self.page.evaluate("([key, entry]) => localStorage.setItem(key, entry)", [key, entry])
        self.open()

    def cell(self, name: str) -> Any:
        return self.page.locator(f"#answer-{name}")

    def editor(self, name: str) -> Any:
        """The editor of an exercise, once it is there."""
        self.cell(name).locator(".in-page-buttons").scroll_into_view_if_needed()
        editor = self.cell(name).locator(".in-page-editor [aria-label]")
        editor.wait_for()
        return editor

    def write(self, name: str, answer: str) -> None:
        """Put `answer` in the place of what stands there."""
        self.editor(name).focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(answer)

    def text(self, name: str) -> str:
        """What stands in the editor."""
        editor = self.editor(name)
        if editor.evaluate("editor => editor.tagName") == "TEXTAREA":
            return editor.input_value()
        return "\n".join(line.strip("\n") for line in editor.locator(".cm-line").all_inner_texts())

    def press(self, name: str, button: str) -> None:
        self.editor(name)
        self.cell(name).get_by_role("button", name=button, exact=True).click()

    def check(self, name: str) -> str:
        """Check one exercise; what the page says of it."""
        self.press(name, "Check")
        self.wait()
        return self.said(name)

    def run(self, name: str) -> str:
        self.press(name, "Run")
        self.wait()
        return self.said(name)

    def check_all(self) -> str:
        """Check all exercises; the line at the top."""
        self.page.get_by_role("button", name="Check all").click()
        self.wait()
        return self.progress()

    def wait(self) -> None:
        """Until Python has replied."""
        self.page.wait_for_selector(".in-page-bar [aria-disabled=true]")

    def wait_for_the_end(self) -> None:
        """Until what runs without end was stopped, with a clock that runs fast."""
        while self.page.locator(".in-page-bar [aria-disabled=false]").count():
            self.page.clock.fast_forward(11 * SECONDS)
            self.page.wait_for_timeout(100)

    def said(self, name: str) -> str:
        return self.cell(name).locator(".in-page-said").inner_text()

    def passes(self, name: str) -> bool:
        return self.cell(name).locator(".in-page-state.passed").is_visible()

    def progress(self) -> str:
        return self.page.locator(".in-page-bar p").first.inner_text()

    def download(self, folder: Path) -> Path:
        """The notebook that the page gives."""
        with self.page.expect_download() as coming:
            self.page.get_by_role("button", name="Download my notebook").click()
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path
