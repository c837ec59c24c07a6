// Chapter 4: one row of scores for each size of a key, at any temperature.
live.kind("temperature", (figure) => {
  const { drawn } = figure.values;
  const { make, cells } = live;
  let [row, tau] = [drawn.length - 1, 1]; // the longest keys, unscaled: the hardest choice

  const strip = make("div", { class: "live-strip", "aria-hidden": "true" });
  const readings = ["largest", "keys", "entropy", "jacobian"].map((name) => {
    const value = make("dd");
    return { value, box: make("div", {}, make("dt", {}, figure.say(name)), value) };
  });
  figure.stage.append(strip, make("dl", { class: "live-readings" }, ...readings.map(({ box }) => box)));

  const degree = (value) => numbers.written(value, value < 10 ? 2 : 1);
  const show = () => {
    const { d_k, scores } = drawn[row];
    const weights = numbers.softmax(scores, tau);
    const keys = Math.exp(numbers.entropy(weights));
    const largest = Math.max(...weights);
    strip.replaceChildren(
      ...[...weights]
        .sort((a, b) => b - a)
        .map((a) => {
          const share = make("i");
          share.style.flexGrow = a;
          return share;
        }),
    );
    [
      numbers.written(largest),
      numbers.written(keys, 1),
      numbers.written(numbers.entropy(weights)),
      numbers.written(numbers.jacobianSize(weights), 3),
    ].forEach((text, i) => {
      readings[i].value.textContent = text;
    });
    strip.classList.toggle("saturated", largest > 0.99);
    cells(figure.tables[0]).forEach((line, i) => line[0].parentElement.classList.toggle("here", i === row));
    figure.tell(
      figure.say("says", { d_k, tau: degree(tau), keys: numbers.written(keys, keys < 10 ? 1 : 0), S: scores.length }) +
        (largest > 0.99 ? ` ${figure.say("saturated")}` : ""),
    );
  };

  figure.choice(
    figure.say("width"),
    drawn.map(({ d_k }, i) => [i, String(d_k)]),
    row,
    (i) => {
      row = i;
      show();
    },
  );
  // The slider runs over powers of two: each step to the right is the same factor.
  const slider = figure.slider(
    figure.say("slider"),
    { min: -2, max: 7, step: 0.125, value: 0, text: (power) => degree(2 ** power) },
    (power) => {
      tau = 2 ** power;
      show();
    },
  );
  figure.key(figure.say("root"), () => {
    tau = Math.sqrt(drawn[row].d_k);
    slider.set(Math.log2(tau));
    show();
  });
  show();
});
