// Chapter 6: the three attentions of a Transformer. Point at an arrow, or at a cell, and see where it comes from.
live.kind("sources", (figure) => {
  const { attentions } = figure.values;
  const { cells, grid } = live;
  const drawing = figure.element.querySelector("svg");
  const [table] = figure.tables;
  const NAMES = ["Q", "K", "V"];

  // `i` is the attention, `j` the column: 0, 1 and 2 are Q, K and V, the others belong to the attention as a whole.
  const visit = (i, j) => {
    for (const arrow of drawing.querySelectorAll("[data-arrow]")) {
      const [attention, name] = arrow.dataset.arrow.split("-");
      const own = Number(attention) === i;
      arrow.classList.toggle("here", own && (j > 2 || NAMES[j] === name));
      arrow.classList.toggle("faint", !own);
    }
    for (const box of drawing.querySelectorAll("[data-box]"))
      box.classList.toggle("here", Number(box.dataset.box) === i);
    cells(table).forEach((row, k) => {
      row[0].parentElement.classList.toggle("here", k === i);
      row.forEach((cell, l) => cell.classList.toggle("here", k === i && l === j));
    });
    const { name: attention, ...from } = attentions[i];
    figure.tell(
      j > 2
        ? figure.say("whole", { attention, ...from })
        : figure.say("one", { attention, name: NAMES[j], from: from[NAMES[j]] }),
    );
  };

  for (const arrow of drawing.querySelectorAll("[data-arrow]")) {
    const [attention, name] = arrow.dataset.arrow.split("-");
    arrow.addEventListener("pointerenter", () => visit(Number(attention), NAMES.indexOf(name)));
  }
  for (const box of drawing.querySelectorAll("[data-box]")) {
    box.addEventListener("pointerenter", () => visit(Number(box.dataset.box), 4));
  }
  grid(table, cells(table), visit);
  figure.tell(figure.say("start"));
});
