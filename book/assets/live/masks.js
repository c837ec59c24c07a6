// Chapter 5: switch the cells of a mask, and see what becomes of the weights.
live.kind("masks", (figure) => {
  const { scores, rows, columns, masks } = figure.values;
  const { make, cells, heat, grid } = live;
  const [table] = figure.tables;
  let seen; // [row][column]: may attend
  let shown = rows.length; // how many of the queries there are, counted from the last
  let rule = "none";

  const buttons = cells(table).map((row) =>
    row.slice(0, columns.length).map((cell) => {
      const button = make("button", { type: "button" });
      cell.replaceChildren(button);
      return button;
    }),
  );
  const sums = cells(table).map((row) => row.at(-1));
  const first = () => rows.length - shown;
  const named = (indices) => indices.map((i) => rows[i]).join(", ");

  const verdict = (weights) => {
    const here = weights.map((_, i) => i).slice(first());
    const total = (row) => numbers.sum(row);
    const empty = here.filter((i) => !seen[i].includes(true));
    const hidden = numbers.sum(here.map((i) => numbers.sum(weights[i].filter((a, j) => !seen[i][j] && a > 0))));
    const lost = here.filter((i) => !empty.includes(i) && Math.abs(total(weights[i]) - 1) > 0.005);
    const said = [];
    if (empty.length) {
      const row = weights[empty[0]];
      said.push(
        figure.say(Number.isNaN(row[0]) ? "nan" : total(row) > 0.5 ? "lie" : "nothing", { rows: named(empty) }),
      );
    }
    if (hidden > 0.005) said.push(figure.say("leak", { weight: numbers.written(hidden), rows: here.length }));
    if (lost.length) said.push(figure.say("lost", { rows: named(lost) }));
    return said.length ? said : [figure.say("fine")];
  };

  const show = (sentence) => {
    const weights = numbers.maskedWeights(scores, seen, rule);
    buttons.forEach((row, i) => {
      row[0].closest("tr").hidden = i < first();
      row.forEach((button, j) => {
        button.textContent = numbers.written(weights[i][j]);
        button.setAttribute("aria-pressed", seen[i][j]);
        button.setAttribute(
          "aria-label",
          figure.say("cell", { row: rows[i], column: columns[j], weight: numbers.written(weights[i][j]) }),
        );
        button.parentElement.style.setProperty("--weight", weights[i][j] || 0);
      });
      heat(sums[i], numbers.sum(weights[i]));
      sums[i].classList.toggle("odd", Math.abs(numbers.sum(weights[i]) - 1) > 0.005 || Number.isNaN(weights[i][0]));
    });
    figure.tell([sentence, ...verdict(weights)].filter(Boolean).join(" "));
    return weights;
  };

  const takeUp = (number) => {
    const mask = masks[number].seen;
    shown = mask.length;
    seen = rows.map((_, i) => [...(mask[i - first()] ?? mask[0])]);
    stop.stopAt(first(), 0);
    show();
  };
  const presets = figure.choice(
    figure.say("preset"),
    masks.map(({ name }, i) => [i, name]),
    0,
    takeUp,
  );
  const select = make(
    "select",
    {},
    ...["none", "infinity", "billion", "zero", "after"].map((name) =>
      make("option", { value: name }, figure.say(name)),
    ),
  );
  select.addEventListener("change", () => {
    rule = select.value;
    show();
  });
  figure.controls.append(make("label", { class: "live-select" }, make("span", {}, figure.say("rule")), select));

  const stop = grid(table, buttons, () => {});
  buttons.forEach((row, i) =>
    row.forEach((button, j) =>
      button.addEventListener("click", () => {
        seen[i][j] = !seen[i][j];
        presets.set(null); // it is the reader's own now
        const place = { row: rows[i], column: columns[j] };
        show(figure.say(seen[i][j] ? "seen" : "hidden", place));
      }),
    ),
  );
  takeUp(0);
});
