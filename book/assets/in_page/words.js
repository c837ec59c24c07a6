// The page's sentences: their table comes with the page, so that another language is another table.

let table = {};

export const useWords = (words) => {
  table = words;
};

/** The sentence `key`, with its blanks filled in. */
export const say = (key, blanks = {}) => table[key].replace(/\{(\w+)\}/g, (_, name) => blanks[name]);

/** An element with a class, text in which `this` becomes code, and further attributes. */
export function make(tag, name, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  write(element, text);
  return element;
}

/** Put `text` into the element; what stands in `backticks` becomes code. */
export function write(element, text) {
  const parts = text.split(/`([^`\n]+)`/);
  element.replaceChildren(
    ...parts.map((part, number) => {
      if (number % 2 === 0) return part;
      const code = document.createElement("code");
      code.textContent = part;
      return code;
    }),
  );
}
