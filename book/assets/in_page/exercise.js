// One exercise of the page: its editor in the place of the printed stub, its buttons, and what is said of it.

import { make, say } from "./words.js";

const NEAR = "200px"; // how far from the window an editor is made ready

export class Exercise {
  #doing = "";

  /**
   * `page` has `run(exercise)`, `check(exercise)`, `stop()`, `announce(words)` and `changed()`;
   * `cell` is the cell of the answer as the page was built.
   */
  constructor(page, cell, { name, stub }) {
    Object.assign(this, { page, cell, name, stub });
    const kept = page.store.answer(name);
    this.answer = kept?.answer ?? stub;
    this.before = kept?.before ?? null; // what stood there before a reset
    this.begunWith = kept?.stub ?? stub;
    if (this.answered) cell.querySelector("pre").textContent = `${this.answer}\n`; // as high as its editor will be
    this.editor = null;
    this.result = { kind: "", of: "" };
    this.place = make("div", "in-page-editor highlight");
    this.place.hidden = true;
    this.#build();
    this.#show();
    if (this.answered && this.begunWith !== stub) this.#tellOfNewStub();
    const near = new IntersectionObserver(
      (seen) => {
        if (!seen.some((one) => one.isIntersecting)) return;
        near.disconnect();
        this.#openEditor();
      },
      { rootMargin: NEAR },
    );
    near.observe(cell);
  }

  get answered() {
    return this.answer.trim() !== this.stub.trim();
  }

  get passed() {
    return this.page.store.passed(this.name);
  }

  /**
   * Show what a run or a check of the answer `of` has found. `kind`: "passed", "not-yet", "ran", "raised",
   * "stopped"; "" for nothing. `error` and `printed` get boxes of their own.
   */
  tell({ kind = "", message = "", printed = "", error = "", of = this.answer }) {
    this.result = { kind, of };
    this.said.className = `in-page-said ${kind}`;
    this.said.replaceChildren(...message.split("\n").filter(Boolean).map((line) => make("p", "", line)));
    this.#fill(this.error, error);
    this.#fill(this.printed, printed);
    if (kind === "passed" || kind === "not-yet") this.#keepState(); // a run says nothing about it
    this.#show();
  }

  /** What Python does for this exercise now: "running", "checking", or "" for nothing. */
  set doing(key) {
    this.#doing = key;
    this.stop.ariaDisabled = String(!key);
    if (!key) this.loading.hidden = true;
    this.#show();
  }

  get doing() {
    return this.#doing;
  }

  /** How much of Python is loaded: megabytes. */
  showLoading(done, all) {
    this.loading.hidden = false;
    this.meter.max = all;
    this.meter.value = done;
    this.amount.textContent = say("loaded_so_far", { done: done.toFixed(1), all: all.toFixed(1) });
  }

  /** Another window of this page has changed the answer. */
  takeOver({ answer, before, stub }) {
    if (answer === this.answer) return;
    Object.assign(this, { answer, before, begunWith: stub });
    this.editor?.setText(answer);
    this.tell({});
  }

  #build() {
    const button = (key, action, kind = "") => {
      const made = make("button", `in-page-button ${kind}`, say(key), { type: "button" });
      made.addEventListener("click", () => {
        if (made.ariaDisabled !== "true") action();
      });
      return made;
    };
    const keys = `in-page-keys-${this.name}`;
    this.run = button("run", () => this.page.run(this));
    this.check = button("check", () => this.page.check(this), "first");
    this.stop = button("stop", () => this.page.stop());
    this.stop.ariaDisabled = "true";
    this.reset = button("reset", () => this.#reset());
    const command = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘" : "Ctrl";
    this.keys = make("p", "in-page-keys", say("keys", { command }), { id: keys });
    const buttons = make("div", "in-page-buttons", "", { role: "group", "aria-label": say("group", { name: this.name }) });
    this.state = make("span", "in-page-state");
    buttons.append(this.run, this.check, this.stop, this.reset, this.state);
    this.meter = make("progress", "", "", { "aria-label": say("loading") });
    this.amount = make("span");
    this.loading = make("p", "in-page-loading", `${say("loading")} `);
    this.loading.hidden = true;
    this.loading.append(this.meter, " ", this.amount);
    this.said = make("div", "in-page-said");
    const box = (key) => {
      // Not a pre: the theme takes every pre that doesn't scroll just now out of the tab order.
      const made = make("div", "in-page-output", "", { tabindex: "0", role: "region", "aria-label": say(key, { name: this.name }) });
      made.hidden = true;
      return made;
    };
    this.error = box("error");
    this.printed = box("printed");
    this.box = make("div", "in-page");
    this.box.append(this.place, buttons, this.keys, this.loading, this.said, this.error, this.printed);
    this.cell.append(this.box);
  }

  async #openEditor() {
    const { createEditor } = await import("./editor.js");
    const given = this.cell.querySelector(".cell_input");
    const hadFocus = given.contains(document.activeElement);
    given.hidden = true;
    this.place.hidden = false;
    this.editor = createEditor({
      parent: this.place,
      text: this.answer,
      name: say("editor", { name: this.name }),
      described: this.keys.id,
      changed: (text) => this.#write(text),
      run: () => this.page.run(this),
      check: () => this.page.check(this),
    });
    if (hadFocus) this.editor.focus();
  }

  #write(text) {
    this.answer = text;
    this.#keep();
    this.#show();
  }

  #keep() {
    const { answer, before, begunWith: stub } = this;
    this.page.store.keepAnswer(this.name, { stub, answer, before });
    this.#keepState();
  }

  #keepState() {
    const passed = this.result.kind === "passed" && this.result.of === this.answer;
    this.page.store.keepState(this.name, passed ? "passed" : this.answered ? "begun" : "");
    this.page.changed();
  }

  #reset() {
    const back = !this.answered && this.before !== null;
    const text = back ? this.before : this.stub;
    this.before = back ? null : this.answered ? this.answer : this.before;
    this.begunWith = this.stub;
    this.editor?.setText(text);
    this.answer = text;
    this.#keep();
    this.tell({});
    this.page.announce(say(back ? "brought_back" : "was_reset", { name: this.name }));
  }

  #show() {
    const old = this.result.kind && this.result.of !== this.answer;
    this.box.classList.toggle("old", old);
    const key = this.doing || (old ? "changed" : this.passed ? "passes" : "");
    this.state.className = `in-page-state ${key === "passes" ? "passed" : ""}`;
    this.state.textContent = key ? say(key) : "";
    this.reset.textContent = say(!this.answered && this.before !== null ? "bring_back" : "reset");
  }

  #fill(box, text) {
    box.textContent = text;
    box.hidden = !text;
  }

  #tellOfNewStub() {
    this.#keepState(); // what passed was another exercise
    const note = make("div", "in-page-note", "", { role: "note" });
    const now = make("details");
    const stub = make("pre");
    stub.textContent = this.stub;
    now.append(make("summary", "", say("new_stub_now")), stub);
    const understood = make("button", "in-page-button", say("understood"), { type: "button" });
    understood.addEventListener("click", () => {
      this.begunWith = this.stub;
      this.#keep();
      note.remove();
      (this.editor ?? this.check).focus();
    });
    note.append(make("p", "", say("new_stub")), now, understood);
    this.box.prepend(note);
  }
}
