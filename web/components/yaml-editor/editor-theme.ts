import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The editor in the tokens of the design, which a shadow root inherits. */
export const theme = EditorView.theme({
  "&": {
    color: "var(--color-text)",
    backgroundColor: "var(--color-surface)",
    height: "100%",
    fontSize: "var(--text-sm)",
  },
  "&.cm-focused": { outline: "2px solid var(--color-focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "var(--line-sm)" },
  ".cm-content": { caretColor: "var(--color-text)" },
  ".cm-cursor": { borderLeftColor: "var(--color-text)" },
  ".cm-gutters": { color: "var(--color-text-muted)", backgroundColor: "var(--color-surface-sunken)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--color-hover) 60%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--color-active)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--color-selected)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--color-active)" },
  ".cm-tooltip, .cm-panels": {
    color: "var(--color-text)",
    backgroundColor: "var(--color-surface-raised)",
    border: "1px solid var(--color-border)",
  },
  ".cm-tooltip": { borderRadius: "var(--radius-md)", boxShadow: "var(--shadow-overlay)", maxWidth: "36rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--color-text)",
    backgroundColor: "var(--color-selected)",
  },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", fontFamily: "var(--font-sans)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--status-failed)" },
});

export const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--status-running)" },
  { tag: [tags.string, tags.content], color: "var(--color-text)" },
  { tag: [tags.comment, tags.meta], color: "var(--color-text-muted)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--status-paused)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--color-text-secondary)" },
]);
