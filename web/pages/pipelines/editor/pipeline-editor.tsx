import type { EditorView } from "@codemirror/view";
import { useRef, useState } from "react";
import { ApiError, messageOf, type DocumentFault } from "../../../api/api-error.ts";
import type { Scope } from "../../../api/permissions.ts";
import { DocumentNotices } from "../../../components/document-editor/document-notices.tsx";
import type { DocumentState } from "../../../components/document-editor/use-document.ts";
import { useSchemaHelp } from "../../../components/document-editor/use-schema.ts";
import { YamlEditor } from "../../../components/yaml-editor/yaml-editor.tsx";
import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SplitLayout } from "../../../ui/split-layout.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { AddSnippet, type ListedSnippet } from "./add-snippet.tsx";
import { insertPipelineFields, insertSnippet, type Insertion } from "./insert-snippet.ts";
import styles from "./pipeline-editor.module.css";
import { PlanFacts } from "./plan-facts.tsx";
import { PlanGraph } from "./plan-graph.tsx";
import { ProblemList } from "./problem-list.tsx";
import { faultsOf, useCheck, type Plan } from "./use-check.ts";

type PipelineEditorProps = {
  readonly scope: Required<Scope>;
  readonly document: DocumentState;
  readonly canEdit: boolean;
};
type Side = "graph" | "problems" | "plan";

/** The text of a pipeline with the graph of what it would run, and what is wrong with it. */
export function PipelineEditor({ scope, document, canEdit }: PipelineEditorProps) {
  const { text, setText } = document;
  const [side, setSide] = useState<Side>("graph");
  const view = useRef<EditorView>(null);
  const extensions = useSchemaHelp("Pipelines");
  const show = useToast();
  const { checked, isCurrent, error, checkNow } = useCheck(scope, text);
  const plan = useLastPlan(checked?.plan ?? undefined);
  const faults = isCurrent ? faultsOf(checked) : savingFaults(document.error, faultsOf(checked));
  const goTo = (line: number, column = 1): void => moveCursor(view.current, line, column);
  const check = async (): Promise<void> => {
    const { data } = await checkNow();
    setSide(data !== undefined && data.faults.length === 0 ? "plan" : "problems");
  };
  const add = (snippet: ListedSnippet): void => {
    const missing = addSnippet(view.current, snippet);
    if (missing !== undefined) show({ tone: "running", message: missing });
  };
  return (
    <div className={styles.page}>
      <div className={styles.notices}>
        <DocumentNotices document={document} noun="pipeline" />
        {error !== null && <Notice tone="waiting">The document cannot be checked: {messageOf(error)}</Notice>}
      </div>
      <SplitLayout
        label="Width of the editor"
        storageKey="railhead.pipeline-editor"
        initial={58}
        first={
          <>
            <div className={styles.tools}>
              {canEdit && <AddSnippet onAdd={add} />}
              <Button size="small" icon="check" onClick={() => void check()}>
                Check
              </Button>
              <span className={styles.state} role="status">
                {stateOf(isCurrent, faults)}
              </span>
            </div>
            <div className={styles.editor}>
              <YamlEditor
                label="Pipeline document"
                value={text}
                onChange={canEdit ? setText : undefined}
                faults={faults}
                extensions={extensions}
                viewRef={view}
              />
            </div>
          </>
        }
        second={
          <div className={styles.side}>
            <Tabs<Side>
              label="About the document"
              selected={side}
              onChange={setSide}
              tabs={[
                {
                  id: "graph",
                  label: "Graph",
                  content: <Graph plan={plan} isOld={checked?.plan === null} goTo={goTo} />,
                },
                {
                  id: "problems",
                  label: "Problems",
                  count: faults.length,
                  content: <ProblemList faults={faults} onSelect={goTo} />,
                },
                {
                  id: "plan",
                  label: "Plan",
                  content: plan ? <PlanFacts plan={plan} /> : <p className={styles.note}>There is no plan yet.</p>,
                },
              ]}
            />
          </div>
        }
      />
    </div>
  );
}

type GraphProps = {
  readonly plan: Plan | undefined;
  readonly isOld: boolean;
  readonly goTo: (line: number) => void;
};

function Graph({ plan, isOld, goTo }: GraphProps) {
  if (plan === undefined)
    return <p className={styles.note}>The graph appears when the document has the form of a pipeline.</p>;
  return (
    <>
      {isOld && <p className={styles.note}>The document has errors. The graph shows it as it was before them.</p>}
      <PlanGraph plan={plan} onSelect={goTo} />
    </>
  );
}

/** The newest plan: while a line is being typed there is none, and the graph should not vanish. */
function useLastPlan(plan: Plan | undefined): Plan | undefined {
  const [last, setLast] = useState(plan);
  if (plan !== undefined && plan !== last) setLast(plan);
  return plan ?? last;
}

const savingFaults = (error: Error | null, otherwise: readonly DocumentFault[]): readonly DocumentFault[] =>
  error instanceof ApiError && error.faults.length > 0 ? error.faults : otherwise;

function stateOf(isCurrent: boolean, faults: readonly DocumentFault[]): string {
  if (!isCurrent) return "Checking";
  const errors = faults.filter(({ severity }) => severity !== "warning").length;
  const warnings = faults.length - errors;
  if (errors > 0) return errors === 1 ? "1 error" : `${errors} errors`;
  if (warnings > 0) return warnings === 1 ? "Valid, 1 warning" : `Valid, ${warnings} warnings`;
  return "Valid";
}

function moveCursor(view: EditorView | null, line: number, column: number): void {
  if (view === null) return;
  const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
  view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
  view.focus();
}

/** Returns what the user has to do for it, if it cannot be added as it is. */
function addSnippet(view: EditorView | null, snippet: ListedSnippet): string | undefined {
  if (view === null) return undefined;
  const piece = insertSnippet(view.state.doc.toString(), view.state.selection.main.head, snippet);
  if (piece === undefined)
    return snippet.place === "step"
      ? "Put the cursor into the step that gets this first."
      : `The document has no list of ${snippet.place}.`;
  insert(view, piece, true);
  if (snippet.pipelineYaml === null) return undefined;
  const fields = insertPipelineFields(view.state.doc.toString(), snippet.pipelineYaml);
  if (fields === undefined)
    return `${snippet.name} needs an entry in the pipeline's ${snippet.pipelineYaml.split(":")[0] ?? ""}.`;
  insert(view, fields, false);
  return undefined;
}

function insert(view: EditorView, { at, length, text }: Insertion, movesCursor: boolean): void {
  view.dispatch({
    changes: { from: at, to: at + length, insert: text },
    ...(movesCursor ? { selection: { anchor: at + 1 }, scrollIntoView: true } : {}),
  });
  view.focus();
}
