// The editor of an exercise: CodeMirror 6 with what Python for beginners needs, and no more.
// Bundled when the book is built; ../assets/in_page/plain_editor.js offers the same where it could not be had.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// The classes of the page's printed code, so that both have the same colours, in light and in dark.
const pygments = tagHighlighter([
  { tag: tags.keyword, class: "k" },
  { tag: tags.operatorKeyword, class: "ow" },
  { tag: [tags.bool, tags.null, tags.self], class: "kc" },
  { tag: tags.string, class: "s2" },
  { tag: tags.number, class: "mi" },
  { tag: tags.comment, class: "c1" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: tags.operator, class: "o" },
  { tag: tags.meta, class: "nd" },
]);

const fromOutside = Annotation.define(); // a change that the page made, not the learner

/**
 * An editor at the end of `parent`, as { text, setText(text), focus() }.
 * `name` is what a screen reader calls it, `described` the id of what says its keys;
 * `changed(text)` is called for what the learner writes, `run` and `check` for their keys.
 */
export function createEditor({ parent, text, name, described, changed, run, check }) {
  const press = (action) => () => {
    action();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
        python(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        syntaxHighlighting(pygments),
        keymap.of([
          { key: "Mod-Enter", run: press(run) },
          { key: "Shift-Enter", run: press(check) },
          // Escape, then Tab, leaves the editor: CodeMirror sees to it.
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.contentAttributes.of({
          "aria-label": name,
          "aria-describedby": described,
          tabindex: "0", // it has the focus anyway; programs that look for such things see it so
          autocapitalize: "off",
          autocorrect: "off",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => {
          const own = update.transactions.some((one) => one.docChanged && !one.annotation(fromOutside));
          if (own) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText(text) {
      const whole = { from: 0, to: view.state.doc.length, insert: text };
      view.dispatch({ changes: whole, annotations: fromOutside.of(true) });
    },
    focus() {
      view.focus();
    },
  };
}
