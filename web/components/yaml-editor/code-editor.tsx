import { defaultKeymap, history, historyKeymap, toggleTabFocusMode } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef, type RefObject } from "react";
import type { DocumentFault } from "../../api/api-error.ts";
import { diagnosticsOf } from "./diagnostics.ts";
import { colours, theme } from "./editor-theme.ts";
import styles from "./code-editor.module.css";

export type CodeEditorProps = {
  /** The accessible name. */
  readonly label: string;
  readonly value: string;
  /** Undefined for a text to read. */
  readonly onChange?: ((text: string) => void) | undefined;
  readonly faults?: readonly DocumentFault[] | undefined;
  /** Fixed after the first rendering. Default: YAML. */
  readonly language?: Extension | undefined;
  /** Fixed after the first rendering. */
  readonly extensions?: Extension | undefined;
  /** Gets the view, for actions outside of the editor. */
  readonly viewRef?: RefObject<EditorView | null> | undefined;
};

const NO_FAULTS: readonly DocumentFault[] = [];

/**
 * CodeMirror. It lives in a shadow root, because there it adopts its style sheets; in a document it would add style
 * elements, which the policy of the pages forbids.
 */
export function CodeEditor(props: CodeEditorProps) {
  const { label, value, onChange, faults = NO_FAULTS, language, extensions = [], viewRef } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const report = useRef(onChange);
  useEffect(() => {
    report.current = onChange;
  });
  const first = useRef({ label, value, language: language ?? yaml(), extensions, isReadOnly: onChange === undefined });
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const created = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.value,
        extensions: [
          // The first one that handles a key wins.
          first.current.extensions,
          first.current.language,
          base(first.current.label, first.current.isReadOnly),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) report.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = created;
    if (viewRef) viewRef.current = created;
    return () => {
      created.destroy();
      view.current = null;
      if (viewRef) viewRef.current = null;
    };
  }, [viewRef]);
  useEffect(() => {
    const current = view.current;
    if (current === null || current.state.doc.toString() === value) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const current = view.current;
    if (current !== null)
      current.dispatch(setDiagnostics(current.state, [...diagnosticsOf(current.state.doc, faults)]));
  }, [faults, value]);
  return <div ref={host} className={styles.editor} />;
}

const base = (label: string, isReadOnly: boolean): Extension => [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  syntaxHighlighting(colours),
  theme,
  // Editable elements take the focus without it, but checkers of accessibility look for it.
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
  EditorState.readOnly.of(isReadOnly),
  EditorState.tabSize.of(2),
  keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, { key: "Ctrl-m", run: toggleTabFocusMode }]),
];
