// What the live figures compute. No page is needed: tests/test_live_figures.py holds each function against NumPy.
globalThis.numbers = (() => {
  const sum = (row) => row.reduce((total, x) => total + x, 0);
  const dot = (x, y) => sum(x.map((entry, i) => entry * y[i]));
  const cosine = (x, y) => dot(x, y) / (Math.sqrt(dot(x, x) * dot(y, y)) || 1); // a vector of zeros scores 0

  // v · tanh(key W_h + question W_s)
  const additive = (key, question, { W_h, W_s, v }) =>
    sum(
      v.map(
        (judge, a) =>
          judge *
          Math.tanh(
            dot(
              key,
              W_h.map((row) => row[a]),
            ) +
              dot(
                question,
                W_s.map((row) => row[a]),
              ),
          ),
      ),
    );

  const softmax = (scores, temperature = 1) => {
    const largest = Math.max(...scores);
    const e = scores.map((score) => Math.exp((score - largest) / temperature));
    const total = sum(e);
    return e.map((share) => share / total);
  };

  // In nats; its exponential is the number of keys that are looked at.
  const entropy = (weights) => -sum(weights.map((a) => (a > 0 ? a * Math.log(a) : 0)));

  // The Frobenius norm of diag(a) - a aᵀ
  const jacobianSize = (weights) => {
    const squares = dot(weights, weights);
    const cubes = sum(weights.map((a) => a ** 3));
    return Math.sqrt(Math.max(squares - 2 * cubes + squares ** 2, 0));
  };

  const weightedSum = (weights, rows) =>
    rows[0].map((_, column) =>
      dot(
        weights,
        rows.map((row) => row[column]),
      ),
    );

  // Give weight `t` a new share. The others divide the rest in their old proportion, or evenly when they had nothing.
  const reshare = (weights, t, share) => {
    const others = 1 - weights[t];
    return weights.map((a, i) => {
      if (i === t) return share;
      return (1 - share) * (others > 1e-12 ? a / others : 1 / (weights.length - 1));
    });
  };

  // One row of weights, where `seen` is true; `rule` says what becomes of the others.
  const RULES = {
    none: (scores, seen) =>
      seen.includes(true) ? softmax(scores.map((s, j) => (seen[j] ? s : -Infinity))) : scores.map(() => 0),
    infinity: (scores, seen) => (seen.includes(true) ? RULES.none(scores, seen) : scores.map(() => NaN)),
    billion: (scores, seen) => softmax(scores.map((s, j) => (seen[j] ? s : -1e9))),
    zero: (scores, seen) => softmax(scores.map((s, j) => (seen[j] ? s : 0))),
    after: (scores, seen) => softmax(scores).map((a, j) => (seen[j] ? a : 0)),
  };
  const maskedWeights = (scores, mask, rule) => scores.map((row, i) => RULES[rule](row, mask[i]));

  // Numbers in the order of memory, cut into heads: with the transpose (T, D) → (T, h, D/h) → (h, T, D/h), without it
  // (T, D) → (h, T, D/h) at once. `line` has T · D entries; entry [head][t][column].
  const cut = (line, T, h, transposed) => {
    const D = line.length / T;
    const width = D / h;
    const place = transposed
      ? (head, t, column) => t * D + head * width + column
      : (head, t, column) => (head * T + t) * width + column;
    return fill([h, T, width], (head, t, column) => line[place(head, t, column)]);
  };

  // And back, [t][column]: with the transpose (h, T, D/h) → (T, h, D/h) → (T, D), without it at once.
  const join = (heads, transposed) => {
    const [h, T, width] = [heads.length, heads[0].length, heads[0][0].length];
    const line = heads.flat(2);
    const D = h * width;
    return fill([T, D], (t, column) =>
      transposed ? heads[Math.floor(column / width)][t][column % width] : line[t * D + column],
    );
  };

  const fill = ([size, ...rest], entry) =>
    Array.from({ length: size }, (_, i) => (rest.length ? fill(rest, (...at) => entry(i, ...at)) : entry(i)));

  // With a true minus sign, as in the pictures
  const written = (x, digits = 2) => {
    if (Number.isNaN(x)) return "NaN";
    const text = x.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  };

  return {
    sum,
    dot,
    cosine,
    additive,
    softmax,
    entropy,
    jacobianSize,
    weightedSum,
    reshare,
    maskedWeights,
    cut,
    join,
    written,
  };
})();
