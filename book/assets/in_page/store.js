// What the browser keeps: answers, how far hints have grown, and which exercises pass.
//
// Keys, each with the page's name without an ending:
//   course:answer:<page>:<exercise>    {"stub", "answer", "before"}: the stub it grew from, what stood there before a reset
//   course:hints:<page>                how often each known mistake was named, as `autograder check` counts it
//   course:exercise:<page>:<exercise>  "passed", or "begun"; whoever shows progress reads these alone

export class Store {
  constructor(page) {
    this.page = page;
    this.works = true; // until something cannot be kept
  }

  /** What was kept of an exercise: {stub, answer, before}, or null. */
  answer(exercise) {
    return this.#read(this.answerKey(exercise));
  }

  answerKey(exercise) {
    return `course:answer:${this.page}:${exercise}`;
  }

  keepAnswer(exercise, entry) {
    this.#write(this.answerKey(exercise), JSON.stringify(entry));
  }

  get hints() {
    return this.#read(`course:hints:${this.page}`) ?? {};
  }

  set hints(times) {
    this.#write(`course:hints:${this.page}`, JSON.stringify(times));
  }

  passed(exercise) {
    return this.#item(this.#exerciseKey(exercise)) === "passed";
  }

  /** `state`: "passed", "begun", or "" for an exercise that is as it was released. */
  keepState(exercise, state) {
    const key = this.#exerciseKey(exercise);
    if ((this.#item(key) ?? "") === state) return;
    this.#write(key, state || null);
    document.dispatchEvent(new Event("course:progress"));
  }

  #exerciseKey(exercise) {
    return `course:exercise:${this.page}:${exercise}`;
  }

  #read(key) {
    try {
      return JSON.parse(this.#item(key));
    } catch {
      return null; // somebody else's, or damaged
    }
  }

  #item(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      this.works = false; // storage is switched off
      return null;
    }
  }

  #write(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      this.works = false; // switched off, or full
    }
  }
}
