// Chapter 3: two keys and a question; move one of the three, by its sliders or by its tip, and see three scores change.
live.kind("scores", (figure) => {
  const { additive } = figure.values;
  const { draw, cells } = live;
  const vectors = [
    { name: figure.say("question"), vector: figure.values.question, colour: "ink" },
    ...figure.values.keys.map((key, i) => ({ ...key, colour: ["blue", "orange"][i] })),
  ];
  const [question, ...keys] = vectors;
  const LONGEST = 5;
  const [width, height, unit] = [360, 350, 34]; // CSS pixels; the origin lies in the middle
  const place = ([x, y]) => [width / 2 + unit * x, height / 2 - unit * y];
  const line = (from, to) => Object.entries({ x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
  const put = (shape, attributes) => attributes.forEach(([name, value]) => shape.setAttribute(name, value));
  let moved = 2; // which of the vectors the sliders move

  const ray = draw("line", { class: "live-ray" });
  for (const one of vectors) {
    one.shaft = draw("line", { class: `live-shaft live-${one.colour}` });
    one.head = draw("path", { d: "M0,0 L-11,-5 L-11,5 Z", class: `live-${one.colour}` });
    one.drop = draw("line", { class: `live-drop live-${one.colour}` });
    one.landing = draw("circle", { r: one === question ? 0 : 4, class: `live-${one.colour}` });
    one.label = draw("text", { "text-anchor": "middle", class: `live-${one.colour}` }, one.name);
    one.tip = draw("circle", { r: 14, class: "live-tip" });
  }
  const svg = figure.picture(
    width,
    height,
    draw("circle", { cx: width / 2, cy: height / 2, r: 2 }),
    ray,
    ...vectors.flatMap(({ drop, landing, shaft, head, label, tip }) => [drop, landing, shaft, head, label, tip]),
  );

  const size = (vector) => Math.sqrt(numbers.dot(vector, vector));
  const degrees = ([x, y]) => (Math.atan2(y, x) * 180) / Math.PI;
  const polar = (length, angle) => {
    const turn = (angle * Math.PI) / 180;
    return [length * Math.cos(turn), length * Math.sin(turn)];
  };
  const best = (scores) => {
    const [near, far] = scores;
    return Math.abs(near - far) < 0.005 ? figure.say("nobody") : keys[near > far ? 0 : 1].name;
  };

  const show = () => {
    const along = question.vector.map((entry) => entry / (size(question.vector) || 1));
    const far = along.map((entry) => 20 * entry);
    put(ray, line(place(far.map((entry) => -entry)), place(far)));
    vectors.forEach((one, i) => {
      const tip = place(one.vector);
      const landing = place(along.map((entry) => entry * numbers.dot(one.vector, along)));
      const angle = -degrees(one.vector);
      put(one.shaft, line([width / 2, height / 2], tip));
      put(one.drop, line(tip, landing));
      put(one.landing, [
        ["cx", landing[0]],
        ["cy", landing[1]],
      ]);
      put(one.head, [["transform", `translate(${tip}) rotate(${angle})`]]);
      put(one.tip, [
        ["cx", tip[0]],
        ["cy", tip[1]],
      ]);
      // Its name stands beyond the tip; the question's stands at the end of its line.
      const out = one === question ? LONGEST - 0.7 : size(one.vector) + 0.6;
      const [x, y] = place(polar(out, degrees(one.vector)));
      put(one.label, [
        ["x", Math.min(Math.max(x, 34), width - 34)],
        ["y", Math.min(Math.max(y + (one === question ? 22 : 5), 16), height - 6)],
      ]);
      one.shaft.classList.toggle("moved", i === moved);
    });

    const table = cells(figure.tables[0]);
    const by = {
      dot: keys.map((key) => numbers.dot(key.vector, question.vector)),
      cosine: keys.map((key) => numbers.cosine(key.vector, question.vector)),
      additive: keys.map((key) => numbers.additive(key.vector, question.vector, additive)),
    };
    keys.forEach((key, i) => {
      table[i][0].textContent = `(${key.vector.map((entry) => numbers.written(entry)).join(", ")})`;
      Object.values(by).forEach((scores, j) => {
        const cell = table[i][j + 1];
        cell.textContent = numbers.written(scores[i]);
        cell.classList.toggle("wins", best(scores) === keys[i].name);
      });
    });
    const winners = Object.fromEntries(Object.entries(by).map(([score, scores]) => [score, best(scores)]));
    figure.tell(figure.say("says", winners));
  };

  const which = figure.choice(
    figure.say("which"),
    vectors.map(({ name }, i) => [i, name]),
    moved,
    (i) => {
      moved = i;
      aim();
      show();
    },
  );
  const together = figure.sliders();
  const steer = () => {
    vectors[moved].vector = polar(Number(length.input.value), Number(angle.input.value));
    show();
  };
  const length = figure.slider(
    figure.say("length"),
    { min: 0.1, max: LONGEST, step: 0.1, value: 1, text: (x) => numbers.written(x, 1), place: together },
    steer,
  );
  const angle = figure.slider(
    figure.say("angle"),
    {
      min: -180,
      max: 180,
      step: 1,
      value: 0,
      text: (x) => figure.say("degrees", { angle: numbers.written(x, 0) }),
      place: together,
    },
    steer,
  );
  const aim = () => {
    length.set(size(vectors[moved].vector));
    angle.set(degrees(vectors[moved].vector));
  };

  vectors.forEach((one, i) => {
    one.tip.addEventListener("pointerdown", (event) => {
      moved = i;
      which.set(i);
      one.tip.setPointerCapture(event.pointerId);
    });
    one.tip.addEventListener("pointermove", (event) => {
      if (!one.tip.hasPointerCapture(event.pointerId)) return;
      const box = svg.getBoundingClientRect();
      const scale = width / box.width;
      const vector = [
        ((event.clientX - box.left) * scale - width / 2) / unit,
        -((event.clientY - box.top) * scale - height / 2) / unit,
      ];
      one.vector = polar(Math.min(Math.max(size(vector), 0.1), LONGEST), degrees(vector));
      aim();
      show();
    });
  });
  aim();
  show();
});
