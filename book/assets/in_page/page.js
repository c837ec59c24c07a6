// The exercises of a page, together: what is asked of Python, how many pass, and the notebook to take away.

import { Exercise } from "./exercise.js";
import { Store } from "./store.js";
import { make, say, useWords, write } from "./words.js";

/** Let the exercises of the page be done in it. `bar` is the place above them; `data` comes with the page. */
export function begin(bar, data) {
  useWords(data.words);
  new Page(bar, data);
}

class Page {
  constructor(bar, data) {
    this.data = data;
    this.store = new Store(data.page);
    this.python = null; // until it is asked for something
    this.endless = new Map(); // exercise → the answer that did not come to an end, and is left out from now on
    this.#buildBar(bar);
    this.exercises = data.exercises.map(
      (one) => new Exercise(this, document.getElementById(`answer-${one.name}`), one),
    );
    window.addEventListener("storage", ({ key, newValue }) => {
      const changed = this.exercises.find((one) => this.store.answerKey(one.name) === key);
      if (changed && newValue) changed.takeOver(this.store.answer(changed.name));
    });
    this.changed();
  }

  /** Run the cell of one exercise. */
  async run(exercise) {
    const of = exercise.answer;
    const reply = await this.#ask(exercise, "running", { do: "run", exercise: exercise.name, answers: this.#answers() });
    if (!reply) return;
    if (reply.stopped) {
      this.#note(reply.stopped, exercise);
      return;
    }
    const message = say(reply.error ? "raised" : reply.printed ? "ran" : "ran_silently");
    exercise.tell({ ...reply, kind: reply.error ? "raised" : "ran", message, of });
    this.announce([message, reply.error, reply.printed].filter(Boolean).join("\n"));
  }

  /** Check the whole page, as `autograder check` does, and say what is about this exercise; without one, about all. */
  async check(exercise = null) {
    for (;;) {
      const answers = this.#answers((one) => !this.#isLeftOut(one, exercise));
      const request = { do: "check", answers, times: this.store.hints };
      const reply = await this.#ask(exercise, "checking", request);
      if (!reply) return;
      if (reply.stopped) {
        const stuck = this.exercises.find((one) => one.name === reply.exercise);
        stuck?.tell({ kind: "not-yet", message: reply.stopped, of: answers[stuck.name] });
        if (stuck) this.endless.set(stuck.name, answers[stuck.name]);
        if (stuck && stuck !== exercise) continue; // the others, without it
        if (stuck) this.announce(reply.stopped);
        else this.#note(reply.stopped, exercise);
        return;
      }
      this.store.hints = reply.times;
      this.#tell(reply.exercises, answers, exercise);
      return;
    }
  }

  /** End whatever Python does. */
  stop() {
    if (this.atWork) this.python?.stop({ stopped: say("stopped"), exercise: "" });
  }

  /** Say something to those who listen; it is also written where it belongs. */
  announce(words) {
    write(this.live, words);
  }

  /** An answer or its state is another now. */
  changed() {
    if (!this.exercises) return;
    const right = this.exercises.filter((one) => one.passed).length;
    const total = this.exercises.length;
    const key = right === total ? "all" : right || this.exercises.some((one) => one.answered) ? "some" : "begin";
    write(this.progress, say(key, { right, total, megabytes: this.data.megabytes }));
    this.notKept.hidden = this.store.works;
  }

  #buildBar(bar) {
    this.progress = make("p");
    this.notKept = make("p", "", say("not_kept"));
    this.notKept.hidden = true;
    this.live = make("p", "visually-hidden", "", { role: "status" });
    const buttons = make("div", "in-page-buttons", "", { role: "group", "aria-label": say("bar") });
    const add = (key, action) => {
      const button = make("button", "in-page-button", say(key), { type: "button" });
      button.addEventListener("click", action);
      buttons.append(button);
      return button;
    };
    add("check_all", () => this.check());
    this.stopAll = add("stop", () => this.stop());
    this.stopAll.ariaDisabled = "true";
    add("download", () => this.#download());
    this.loading = make("p", "in-page-loading");
    this.noted = make("p");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", say("bar"));
    bar.append(this.progress, this.notKept, buttons, this.loading, this.noted, this.live);
    for (const empty of [this.loading, this.noted]) empty.hidden = true;
    bar.hidden = false;
  }

  /** The answers there are, by exercise. */
  #answers(wanted = () => true) {
    return Object.fromEntries(
      this.exercises.filter((one) => one.answered && wanted(one)).map((one) => [one.name, one.answer]),
    );
  }

  /** Whether an answer is known not to come to an end, and is not the one that the learner asks about now. */
  #isLeftOut(one, asked) {
    return one !== asked && this.endless.get(one.name) === one.answer;
  }

  /** What Python replies; `{stopped, exercise}` where it was stopped, null where there is no Python or it is at work. */
  async #ask(exercise, doing, request) {
    if (this.atWork) {
      if (!exercise?.doing) this.#note(say("busy"), exercise);
      return null;
    }
    this.atWork = true;
    this.stopAll.ariaDisabled = "false";
    this.noted.hidden = true;
    if (exercise) exercise.doing = doing;
    try {
      if (!this.python) {
        const { Python } = await import("./python.js");
        this.python = new Python(this.data);
      }
      this.announce(say(this.python.isReady ? doing : "loading"));
      return await this.python.ask(request, (done, all) => this.#showLoading(exercise, done, all));
    } catch {
      this.#note(say("no_python"), exercise);
      return null;
    } finally {
      this.atWork = false;
      if (exercise) exercise.doing = "";
      this.stopAll.ariaDisabled = "true";
      this.loading.hidden = true;
    }
  }

  /** Say something about an exercise that is neither a result nor an error; without one, above all of them. */
  #note(words, exercise = null) {
    if (exercise) exercise.tell({ kind: "stopped", message: words });
    else {
      write(this.noted, words);
      this.noted.hidden = false;
    }
    this.announce(words);
  }

  #showLoading(exercise, done, all) {
    if (exercise) {
      exercise.showLoading(done, all);
      return;
    }
    this.loading.hidden = false;
    this.loading.textContent = `${say("loading")} ${say("loaded_so_far", { done: done.toFixed(1), all: all.toFixed(1) })}`;
  }

  /** Show the results of a check: in full where they were asked for, or were told before. */
  #tell(results, answers, asked) {
    for (const one of this.exercises) {
      const result = results[one.name];
      const answered = one.name in answers;
      if (!result || (!answered && one !== asked)) continue; // not of this release; left out, or not begun
      const kind = result.passed ? "passed" : answered ? "not-yet" : "stopped";
      const message = result.passed ? say("passed") : answered ? result.message : say("unanswered");
      const printed = one === asked || !asked ? result.printed : "";
      one.tell({ kind, message, printed, of: answers[one.name] ?? one.answer });
    }
    if (asked) this.announce(`${asked.name}: ${asked.said.innerText}`);
    else this.announce(this.progress.textContent);
  }

  async #download() {
    try {
      const { download } = await import("./notebook.js");
      await download(this.data.notebook, this.#answers());
      this.#note(say("downloaded", { file: this.data.notebook }));
    } catch {
      this.#note(say("not_downloaded"));
    }
  }
}
