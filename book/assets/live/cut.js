// Chapter 6: a table whose numbers say where they stand, cut into heads and joined again, with the transposes or without.
live.kind("cut", (figure) => {
  const { T, D, choices } = figure.values;
  const { make, cells, grid } = live;
  const line = Array.from({ length: T * D }, (_, n) => 10 * (Math.floor(n / D) + 1) + (n % D) + 1);
  const [whole] = figure.tables;
  const pieces = figure.element.querySelector(".live-tables");
  const back = make("div", { class: "live-back" });
  pieces.after(back);
  let [h, cutting, joining, at] = [figure.values.h, true, true, null];

  const tint = (cell, number) => {
    cell.className = `live-word-${Math.floor(number / 10)}`;
    cell.dataset.number = number;
  };
  const table = (name, entries) => {
    const heading = (scope, text) => make("th", { scope }, text);
    return make(
      "div",
      { class: "drawn-scroll live-table" },
      make(
        "table",
        {},
        make("caption", {}, name),
        make(
          "thead",
          {},
          make("tr", {}, heading("col", figure.say("line")), ...entries[0].map((_, j) => heading("col", j + 1))),
        ),
        make(
          "tbody",
          {},
          ...entries.map((row, i) =>
            make(
              "tr",
              {},
              heading("row", i + 1),
              ...row.map((number) => {
                const cell = make("td", {}, String(number));
                tint(cell, number);
                return cell;
              }),
            ),
          ),
        ),
      ),
    );
  };
  cells(whole)
    .flat()
    .forEach((cell, n) => tint(cell, line[n]));

  const mark = () =>
    figure.element
      .querySelectorAll("td")
      .forEach((cell) => cell.classList.toggle("here", Number(cell.dataset.number) === at));

  const show = () => {
    const cut = numbers.cut(line, T, h, cutting);
    const joined = numbers.join(cut, joining);
    pieces.replaceChildren(...cut.map((piece, i) => table(figure.say("head", { head: i }), piece)));
    back.replaceChildren(table(figure.say("joined", { T, D }), joined));
    mark();
    const where = (rows) => {
      const t = rows.findIndex((row) => row.includes(at));
      return t < 0 ? null : [t + 1, rows[t].indexOf(at) + 1];
    };
    if (at) {
      const head = cut.findIndex((piece) => where(piece));
      const [[t, k], [row, column]] = [where(cut[head]), where(joined)];
      figure.tell(figure.say("goes", { number: at, head, t, k, row, column }));
    } else {
      const held = new Set(cut[0].flat().map((number) => Math.floor(number / 10))).size;
      const same = joined.flat().every((number, n) => number === line[n]);
      figure.tell(`${figure.say("mixed", { count: held, T })} ${figure.say(same ? "whole_again" : "not_again")}`);
    }
  };
  // A change of the settings is about all numbers, a visit about one.
  const set = (change) => (value) => {
    change(value);
    at = null;
    show();
  };

  figure.choice(
    figure.say("heads"),
    choices.map((count) => [count, String(count)]),
    h,
    set((count) => {
      h = count;
    }),
  );
  figure.tick(
    figure.say("cutting"),
    cutting,
    set((on) => {
      cutting = on;
    }),
  );
  figure.tick(
    figure.say("joining"),
    joining,
    set((on) => {
      joining = on;
    }),
  );
  grid(whole, cells(whole), (i, j) => {
    at = line[i * D + j];
    show();
  });
  show();
});
