// Chapter 1: how many words come back, by their length and by the size of the vector between encoder and decoder.
live.kind("bottleneck", (figure) => {
  const { lengths, names, sizes, shares, examples } = figure.values;
  const { make, cells } = live;
  const percent = (share) => `${numbers.written(100 * share, 0)} %`;
  const at = { length: (lengths.length - 2) >> 1, size: 0 }; // where some words come back, and some do not

  const tiles = (word, right) =>
    make(
      "span",
      { class: "live-tiles" },
      ...[...word].map((letter, i) => make("span", { class: right && right[i] !== letter ? "wrong" : null }, letter)),
    );

  const show = () => {
    const [mean, least, most] = shares[at.length][at.size];
    const [read, said] = examples[at.length][at.size];
    const wanted = [...read].reverse();
    const vector = make("span", { class: "live-vector" }, ...Array.from({ length: sizes[at.size] }, () => make("i")));
    const bar = make("div", { class: "live-bar" }, make("i"), make("b"));
    bar.style.setProperty("--mean", mean);
    bar.style.setProperty("--least", least);
    bar.style.setProperty("--most", most);
    figure.stage.replaceChildren(
      make("div", { class: "live-road", "aria-hidden": "true" }, tiles(read), vector, tiles(said, wanted)),
      bar,
    );
    const share = { share: percent(mean), least: percent(least), most: percent(most) };
    const measured = figure.say("says", { T: lengths[at.length], name: names[at.size], ...share });
    const example = figure.say(said === wanted.join("") ? "right" : "wrong", { read, said });
    figure.tell(`${measured} ${example}`);
    cells(figure.tables[0]).forEach((row, i) =>
      row.forEach((cell, j) => cell.classList.toggle("here", i === at.length && j === at.size)),
    );
  };

  figure.slider(
    figure.say("length"),
    { min: 0, max: lengths.length - 1, step: 1, value: at.length, text: (i) => String(lengths[i]) },
    (i) => {
      at.length = i;
      show();
    },
  );
  figure.choice(
    figure.say("size"),
    names.map((name, j) => [j, name]),
    at.size,
    (j) => {
      at.size = j;
      show();
    },
  );
  show();
});
