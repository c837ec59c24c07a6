// Chapters 6 and 7: who looks where. A line for each weight, as thick as the weight; one row at a time where you point.
live.kind("attention", (figure) => {
  const { weights, names, rows, columns } = figure.values;
  const { draw, cells, grid } = live;
  const step = weights.length > 1 ? 40 : 28; // CSS pixels from word to word
  const [width, height] = [340, step * Math.max(rows.length, columns.length) + 8];
  const [left, right] = [110, 230];
  const level = (i, count) => 4 + step / 2 + i * step + ((Math.max(rows.length, columns.length) - count) * step) / 2;

  const lines = weights.map((head, h) =>
    head.map((row, i) =>
      row.map((a, j) =>
        draw("line", {
          x1: left,
          x2: right,
          // Lines of several heads between the same two words lie beside each other.
          y1: level(i, rows.length) + 7 * (h - (weights.length - 1) / 2),
          y2: level(j, columns.length) + 7 * (h - (weights.length - 1) / 2),
          class: `live-look live-head-${h % 4}`,
          "stroke-width": 9 * a,
          visibility: a < 0.005 ? "hidden" : null,
        }),
      ),
    ),
  );
  const words = (labels, x, anchor) =>
    labels.map((label, i) => draw("text", { x, y: level(i, labels.length) + 5, "text-anchor": anchor }, label));
  const asking = words(rows, left - 10, "end");
  figure.picture(width, height, ...lines.flat(2), ...asking, ...words(columns, right + 10, "start"));

  // The two or three that count, or none where all are alike
  const looks = (row) => {
    if (Math.max(...row) - Math.min(...row) < 0.02) return figure.say("evenly");
    return row
      .map((a, j) => ({ column: columns[j], a }))
      .filter(({ a }) => a >= 0.05)
      .sort((one, other) => other.a - one.a)
      .slice(0, 3)
      .map(({ column, a }) => figure.say("look", { column, weight: numbers.written(a) }))
      .join(", ");
  };

  const visit = (i) => {
    lines.forEach((head) => head.forEach((row, k) => row.forEach((line) => line.classList.toggle("faint", k !== i))));
    asking.forEach((label, k) => label.classList.toggle("here", k === i));
    figure.tables.forEach((table) =>
      cells(table).forEach((row, k) => row[0].parentElement.classList.toggle("here", k === i)),
    );
    const said = weights.map((head) => looks(head[i]));
    figure.tell(
      weights.length === 1
        ? figure.say("says", { row: rows[i], looks: said[0] })
        : said.map((all, h) => figure.say("head", { row: rows[i], head: names[h], looks: all })).join(" "),
    );
  };

  figure.tables.forEach((table, h) => {
    if (weights.length > 1) table.dataset.head = h;
    grid(table, cells(table), visit);
  });
  asking.forEach((label, i) => label.addEventListener("pointerenter", () => visit(i)));
  lines.forEach((head) =>
    head.forEach((row, i) => row.forEach((line) => line.addEventListener("pointerenter", () => visit(i)))),
  );
  figure.tell(figure.say("start"));
});
