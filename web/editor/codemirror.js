// The parts of CodeMirror that the page Playground uses; build.mjs makes one file of them.
export { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { python } from "@codemirror/lang-python";
export { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { EditorState, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration, drawSelection, EditorView, gutterLineClass, GutterMarker, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
