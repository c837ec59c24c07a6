// Chapter 2: move the weights, and see the context move between the rows.
live.kind("weighted_sum", (figure) => {
  const { rows, names, wanted, axes } = figure.values;
  const { draw, cells, heat } = live;
  let weights = figure.values.weights;

  // The picture: two numbers of each row, one across and one up
  const [width, height, edge] = [360, 280, 46];
  const range = axes.map((axis) => {
    const column = rows.map((row) => row[axis]);
    return [Math.min(...column), Math.max(...column)];
  });
  const place = (row) => [
    edge + ((row[axes[0]] - range[0][0]) / (range[0][1] - range[0][0])) * (width - 2 * edge),
    height - edge - ((row[axes[1]] - range[1][0]) / (range[1][1] - range[1][0])) * (height - 2 * edge),
  ];
  const corners = rows.map(place);
  const around = [...corners].sort(
    // by their angle around the middle, so that the lines do not cross
    (() => {
      const [x, y] = [0, 1].map((axis) => numbers.sum(corners.map((corner) => corner[axis])) / corners.length);
      return (p, q) => Math.atan2(p[1] - y, p[0] - x) - Math.atan2(q[1] - y, q[0] - x);
    })(),
  );
  const strings = corners.map(([x, y]) => draw("line", { x1: x, y1: y, class: "live-string" }));
  const dots = corners.map(([cx, cy]) => draw("circle", { cx, cy, class: "live-dot" }));
  const context = draw("circle", { r: 8, class: "live-context" });
  const label = draw("text", { class: "live-c" }, "c");
  figure.picture(
    width,
    height,
    draw("polygon", { points: around.map((corner) => corner.join(",")).join(" "), class: "live-hull" }),
    draw("circle", { cx: corners[wanted][0], cy: corners[wanted][1], r: 17, class: "live-ring" }),
    ...strings,
    ...dots,
    ...corners.map(([x, y], t) =>
      draw("text", { x, y: y < height / 2 ? y - 22 : y + 34, "text-anchor": "middle" }, names[t]),
    ),
    context,
    label,
    draw(
      "text",
      { x: width / 2, y: height - 3, "text-anchor": "middle", class: "live-axis" },
      figure.say("across", { k: axes[0] + 1 }),
    ),
    draw(
      "text",
      { x: 12, y: height / 2, "text-anchor": "middle", class: "live-axis", transform: `rotate(-90 12 ${height / 2})` },
      figure.say("across", { k: axes[1] + 1 }),
    ),
  );

  const table = cells(figure.tables[0]);
  const show = () => {
    const c = numbers.weightedSum(weights, rows);
    const [x, y] = place(c);
    weights.forEach((a, t) => {
      heat(table[t][0], a);
      strings[t].setAttribute("x2", x);
      strings[t].setAttribute("y2", y);
      strings[t].style.strokeWidth = 8 * a;
      dots[t].setAttribute("r", 3 + 8 * a);
    });
    context.setAttribute("cx", x);
    context.setAttribute("cy", y);
    label.setAttribute("x", x + 13);
    label.setAttribute("y", y + 5);
    [numbers.sum(weights), ...c].forEach((entry, j) => heat(table.at(-1)[j], entry));
    const away = c.map((entry, k) => entry - rows[wanted][k]);
    figure.tell(
      figure.say("says", {
        c: c.map((entry) => numbers.written(entry)).join(", "),
        loss: numbers.written(numbers.dot(away, away) / 2),
        word: names[wanted],
      }),
    );
  };

  const together = figure.sliders();
  const sliders = rows.map((_, t) =>
    figure.slider(
      figure.say("slider", { word: names[t] }),
      { min: 0, max: 1, step: 0.01, value: weights[t], text: (a) => numbers.written(a), place: together },
      (share) => {
        weights = numbers.reshare(weights, t, share);
        sliders.forEach((slider, i) => i === t || slider.set(weights[i]));
        show();
      },
    ),
  );
  const takeUp = (others) => () => {
    weights = others;
    sliders.forEach((slider, t) => slider.set(weights[t]));
    show();
  };
  figure.key(figure.say("first"), takeUp(weights));
  figure.key(figure.say("even"), takeUp(rows.map(() => 1 / rows.length)));
  show();
});
