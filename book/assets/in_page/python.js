// Python in a worker, as the page sees it: asked for one thing at a time, stopped from outside.
//
// A page on GitHub Pages may not share memory with its worker, so nothing in it can be interrupted: to stop it is to
// end it, and a new one begins.

export class Python {
  #data;
  #worker = null;
  #waiting = null; // {resolve, reject, loading} of what was asked
  #clock = 0;
  isReady = false;

  constructor(data) {
    this.#data = data;
  }

  /**
   * What Python replies to `request`, or {stopped, exercise} where it was stopped. `loading(done, all)` is called while
   * it is fetched, in megabytes. Throws where Python cannot be had.
   */
  ask(request, loading) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, loading };
      this.#begin();
      this.#worker.postMessage({ request });
    });
  }

  /** End Python; what was asked gets `reply`. A new one begins at once, so that it is ready for the next question. */
  stop(reply) {
    const waiting = this.#end();
    this.#begin();
    waiting?.resolve(reply);
  }

  #begin() {
    if (this.#worker) return;
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = () => this.#fail();
    const beside = (file) => new URL(file, document.baseURI).href;
    this.#worker.postMessage({ notebook: beside(this.#data.notebook), hints: beside(this.#data.hints) });
  }

  #hear(said) {
    if (said.loaded) this.#waiting?.loading(...said.loaded);
    else if (said.ready) this.isReady = true;
    else if (said.failed) this.#fail();
    else if (said.broken) this.stop({ stopped: this.#data.words.died, exercise: said.broken });
    else if (said.runs) this.#watch(said.runs);
    else if (said.reply) {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.resolve(said.reply);
    }
  }

  /** What runs now may take `seconds`; none: nothing runs that could be endless. */
  #watch({ exercise, sentence, seconds }) {
    clearTimeout(this.#clock);
    if (seconds) this.#clock = setTimeout(() => this.stop({ stopped: sentence, exercise }), 1000 * seconds);
  }

  #fail() {
    this.#end()?.reject(new Error("no Python"));
  }

  #end() {
    clearTimeout(this.#clock);
    this.#worker?.terminate();
    this.#worker = null;
    this.isReady = false;
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }
}
