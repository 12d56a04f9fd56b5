// The editor of the page Playground: CodeMirror, in a shadow root.
//
// There its styles are adopted sheets, as the policy of the page allows no inline ones. Colours are the page's variables.
import {
  bracketMatching, closeBrackets, closeBracketsKeymap, Decoration, defaultKeymap, drawSelection, EditorState, EditorView, GutterMarker, gutterLineClass,
  highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, HighlightStyle, history, historyKeymap, indentOnInput, indentUnit, indentWithTab,
  keymap, lineNumbers, Prec, python, RangeSet, StateEffect, StateField, syntaxHighlighting, tags,
} from "../vendor/codemirror.esm.js";

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--card)", border: "1px solid var(--soft)", borderRadius: ".4rem", maxHeight: "70vh" },
  "&.cm-focused": { outline: "3px solid var(--warm)", outlineOffset: "2px" },
  ".cm-scroller": { font: ".9rem/1.5 ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace", minHeight: "var(--editor-height, 20rem)" },
  ".cm-content": { caretColor: "var(--text)", padding: ".5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--code-selected)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--code-selected)", outline: "1px solid var(--soft)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", color: "var(--wrong)" },
  ".cm-wrong-line": { backgroundColor: "color-mix(in srgb, var(--wrong) 12%, transparent)" },
  ".cm-wrong-number": { color: "var(--wrong)", fontWeight: "700" },
  ".cm-wrong": { textDecoration: "underline wavy var(--wrong) 1.5px", textUnderlineOffset: "4px" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: "var(--code-name)", fontWeight: "600" },
  { tag: [tags.meta], color: "var(--code-number)" },
]);

const NOTHING = { marks: Decoration.none, numbers: RangeSet.empty };
// Where the last run went wrong, until the program is changed: {line, column, end_line, end_column}, counted from 1.
const setWrong = StateEffect.define();
const wrong = StateField.define({
  create: () => NOTHING,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setWrong)) return effect.value ? marksOf(transaction.state.doc, effect.value) : NOTHING;
    return transaction.docChanged ? NOTHING : value;
  },
  provide: (field) => [EditorView.decorations.from(field, ({ marks }) => marks), gutterLineClass.from(field, ({ numbers }) => numbers)],
});

const numberOfWrongLine = new (class extends GutterMarker {
  elementClass = "cm-wrong-number";
})();

function marksOf(doc, { line, column, end_line: endLine, end_column: endColumn }) {
  if (line > doc.lines) return NOTHING;
  const first = doc.line(line);
  const at = (number, column) => {
    const found = doc.line(Math.min(number, doc.lines));
    return Math.min(found.from + offsetOf(found.text, column), found.to);
  };
  const from = at(line, column), to = at(endLine, endColumn);
  const marks = [Decoration.line({ class: "cm-wrong-line" }).range(first.from)];
  if (to > from) marks.push(Decoration.mark({ class: "cm-wrong" }).range(from, to));
  return { marks: Decoration.set(marks, true), numbers: RangeSet.of(numberOfWrongLine.range(first.from)) };
}

// Python counts characters, JavaScript units of UTF-16.
function offsetOf(text, column) {
  return [...text].slice(0, column - 1).join("").length;
}

// What is typed over a selection: a browser's own way gives the lines that it joins inline styles, which the policy of the page forbids.
function typedOver(event, view) {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  if (event.inputType !== "insertText" || !event.data || event.isComposing || empty) return false;
  const change = () => state.update(state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, event.data, change))) view.dispatch(change());
  event.preventDefault();
  return true;
}

const BY_A_PERSON = ["input", "delete", "move", "undo", "redo"];

export class Editor {
  #view;

  // onRun: called for Ctrl+Enter; onChange: with the text, after every change by a person.
  constructor(host, { onRun, onChange }) {
    const root = host.attachShadow({ mode: "open", delegatesFocus: true });
    const leave = (view) => {
      view.setTabFocusMode(true); // until something is typed
      return false;
    };
    this.#view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        extensions: [
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (onRun(), true) }, { key: "Escape", run: leave }])),
          lineNumbers(), highlightSpecialChars(), history(), drawSelection(), EditorState.allowMultipleSelections.of(true), indentUnit.of("    "),
          indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightActiveLineGutter(), python(), syntaxHighlighting(colours), theme,
          wrong, EditorView.lineWrapping,
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({
            "aria-label": "Python program. Tab indents; Escape, then Tab leaves the editor. Control+Enter runs.", autocorrect: "off", autocapitalize: "off", spellcheck: "false",
          }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            update.view.setTabFocusMode(false);
            if (update.transactions.some((one) => BY_A_PERSON.some((kind) => one.isUserEvent(kind)))) onChange(this.text);
          }),
          EditorView.domEventHandlers({ blur: (_, view) => view.setTabFocusMode(false), beforeinput: typedOver }),
        ],
      }),
    });
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  // A change like any other: undo brings back what was there.
  set text(value) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: value }, selection: { anchor: 0 }, scrollIntoView: true });
  }

  // Marks a place; none clears the marks.
  mark(place = null) {
    this.#view.dispatch({ effects: setWrong.of(place) });
  }

  goTo({ line, column }) {
    const { doc } = this.#view.state;
    const found = doc.line(Math.min(line, doc.lines));
    this.#view.dispatch({ selection: { anchor: Math.min(found.from + offsetOf(found.text, column), found.to) }, scrollIntoView: true });
    this.#view.focus();
  }

  focus() {
    this.#view.focus();
  }
}
