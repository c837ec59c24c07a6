// What the live figures share: controls above a table, a picture, and a sentence that says what is to be seen.
// A figure is made by book/live_figures: a real table, its values in `data-values`, and in `data-words` the sentences.
globalThis.live = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  const build = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const make = (name, attributes = {}, ...children) => build(document.createElement(name), attributes, children);
  const draw = (name, attributes = {}, ...children) => build(document.createElementNS(SVG, name), attributes, children);

  // Korean words in a sentence say that they are Korean, as in the book's text.
  const marked = (text) =>
    String(text)
      .split(/([ㄱ-ㆎ가-힣]+)/)
      .map((part, odd) => (odd % 2 ? make("span", { lang: "ko" }, part) : part));

  let made = 0; // names for what must be found again in a whole page

  class Figure {
    constructor(element) {
      this.element = element;
      this.values = JSON.parse(element.dataset.values);
      this.words = JSON.parse(element.dataset.words);
      this.tables = [...element.querySelectorAll("table")];
      this.controls = make("div", { class: "live-controls" });
      this.stage = make("div", { class: "live-stage" });
      this.status = make("p", { class: "live-says", role: "status" });
      element.prepend(this.controls, this.stage, this.status);
      element.classList.add("live-on");
    }

    // The sentence `key`, with what it leaves open filled in
    say(key, fields = {}) {
      return this.words[key].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
    }

    // Say it; a screen reader says only what is new.
    tell(sentence) {
      if (this.status.textContent !== sentence) this.status.replaceChildren(...marked(sentence));
    }

    // A picture beside the text, which says the same
    picture(width, height, ...shapes) {
      const svg = draw(
        "svg",
        { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "live-picture" },
        ...shapes,
      );
      svg.style.maxWidth = `${width}px`;
      this.stage.append(svg);
      return svg;
    }

    // A slider; `text(value)` is what it shows, and what a screen reader says of it.
    slider(label, { min, max, step, value, text = String, place = this.controls }, changed) {
      const shown = make("span", { class: "live-value", "aria-hidden": "true" });
      const input = make("input", { type: "range", min, max, step, value });
      const show = () => {
        shown.textContent = text(Number(input.value));
        input.setAttribute("aria-valuetext", shown.textContent);
      };
      input.addEventListener("input", () => {
        show();
        changed(Number(input.value));
      });
      show();
      place.append(make("label", { class: "live-slider" }, make("span", {}, ...marked(label)), input, shown));
      return {
        input,
        set(value) {
          input.value = value;
          show();
        },
      };
    }

    // A place for several sliders, in columns where there is room
    sliders() {
      const place = make("div", { class: "live-sliders" });
      this.controls.append(place);
      return place;
    }

    // One of several: radio buttons that look like one row of keys
    choice(label, options, chosen, changed) {
      const name = `live-${(made += 1)}`;
      const keys = options.map(([value, words]) => {
        const input = make("input", { type: "radio", name, value, checked: value === chosen && "" });
        input.addEventListener("change", () => changed(value));
        return make("label", {}, input, make("span", {}, ...marked(words)));
      });
      const set = make("fieldset", { class: "live-choice" }, make("legend", {}, label), make("div", {}, ...keys));
      this.controls.append(set);
      return {
        // Show `value` as chosen; a value that is none of the options leaves none chosen.
        set(value) {
          for (const input of set.querySelectorAll("input")) input.checked = input.value === String(value);
        },
      };
    }

    // On or off
    tick(label, on, changed) {
      const input = make("input", { type: "checkbox", checked: on && "" });
      input.addEventListener("change", () => changed(input.checked));
      this.controls.append(make("label", { class: "live-tick" }, input, make("span", {}, label)));
    }

    key(label, pressed) {
      const button = make("button", { type: "button", class: "live-key" }, label);
      button.addEventListener("click", pressed);
      this.controls.append(button);
      return button;
    }
  }

  // The cells of a table's body without its headings: [row][column]
  const cells = (table) => [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);

  // Fill a cell: the number and, unless it is to stay plain, a colour as strong as it is far from zero.
  const heat = (cell, x, { top = 1, digits = 2 } = {}) => {
    cell.textContent = numbers.written(x, digits);
    cell.classList.toggle("below", x < 0);
    cell.style.setProperty("--weight", Number.isFinite(x) ? Math.min(Math.abs(x) / top, 1) : 0);
  };

  // One stop of the Tab key for a whole table: arrow keys go from cell to cell, a pointer goes where it likes.
  // `inside` is what the keys go to, [row][column], a cell or the button in it; `visit(row, column)` hears of each.
  const grid = (table, inside, visit) => {
    table.setAttribute("role", "grid");
    let stop = inside[0][0];
    const stopAt = (i, j) => {
      stop.tabIndex = -1;
      stop = inside[i][j];
      stop.tabIndex = 0;
    };
    inside.forEach((row, i) =>
      row.forEach((target, j) => {
        target.tabIndex = -1;
        target.addEventListener("focus", () => {
          stopAt(i, j);
          visit(i, j);
        });
        target.closest("td").addEventListener("pointerenter", () => visit(i, j));
      }),
    );
    stopAt(0, 0);
    table.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const i = inside.findIndex((row) => row.includes(document.activeElement));
      const j = inside[i]?.indexOf(document.activeElement);
      const to = {
        ArrowLeft: [i, j - 1],
        ArrowRight: [i, j + 1],
        ArrowUp: [i - 1, j],
        ArrowDown: [i + 1, j],
        Home: [i, 0],
        End: [i, inside[i]?.length - 1],
      }[event.key];
      if (i < 0 || !to) return;
      event.preventDefault(); // or the page scrolls
      inside[to[0]]?.[to[1]]?.focus();
    });
    return { stopAt };
  };

  // Bring every figure of one kind to life.
  const kind = (name, bring) => {
    for (const element of document.querySelectorAll(`figure[data-live="${name}"]`)) bring(new Figure(element));
  };

  return { kind, make, draw, cells, heat, grid };
})();
