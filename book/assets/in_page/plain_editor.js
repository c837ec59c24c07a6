// The editor of an exercise where CodeMirror could not be had when the book was built: a text field with the same keys.

/** As `createEditor` of book/in_page/editor.js. */
export function createEditor({ parent, text, name, described, changed, run, check }) {
  const field = document.createElement("textarea");
  field.className = "in-page-plain";
  field.value = text;
  for (const [key, value] of Object.entries({ "aria-label": name, "aria-describedby": described })) {
    field.setAttribute(key, value);
  }
  field.spellcheck = false;
  field.autocapitalize = "off";
  field.wrap = "off";
  const fit = () => (field.rows = field.value.split("\n").length);
  let leaving = false; // Escape was pressed: Tab leaves
  const replace = (from, to, text) => {
    field.setRangeText(text, from, to, "end");
    field.dispatchEvent(new Event("input"));
  };
  const comment = () => {
    const { selectionStart, selectionEnd, value } = field;
    const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const end = value.indexOf("\n", selectionEnd);
    const to = end < 0 ? value.length : end;
    const lines = value.slice(from, to).split("\n");
    const all = lines.every((line) => /^\s*(#|$)/.test(line));
    replace(from, to, lines.map((line) => (all ? line.replace(/# ?/, "") : line.replace(/\S/, "# $&"))).join("\n"));
  };
  field.addEventListener("input", () => {
    fit();
    changed(field.value);
  });
  field.addEventListener("keydown", (event) => {
    const { selectionStart: from, selectionEnd: to, value } = field;
    const command = event.ctrlKey || event.metaKey;
    const line = value.slice(value.lastIndexOf("\n", from - 1) + 1, from);
    if (event.key === "Escape") {
      leaving = true;
      return;
    }
    if (event.key === "Tab" && !event.shiftKey && !leaving) replace(from, to, "    ");
    else if (event.key === "/" && command) comment();
    else if (event.key === "Enter" && command) run();
    else if (event.key === "Enter" && event.shiftKey) check();
    else if (event.key === "Enter") replace(from, to, `\n${/^ */.exec(line)[0]}${/:\s*$/.test(line) ? "    " : ""}`);
    else {
      if (event.key !== "Shift") leaving = false;
      return;
    }
    event.preventDefault();
  });
  parent.append(field);
  fit();
  return {
    get text() {
      return field.value;
    },
    setText(text) {
      field.value = text;
      fit();
    },
    focus() {
      field.focus();
    },
  };
}
