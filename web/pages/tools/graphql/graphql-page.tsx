import { useMutation, useQuery } from "@tanstack/react-query";
import { autocompletion } from "@codemirror/autocomplete";
import { graphql } from "cm6-graphql";
import type { GraphQLSchema } from "graphql";
import { keymap } from "@codemirror/view";
import { useRef, useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { CodeEditor } from "../../../components/yaml-editor/code-editor.tsx";
import { Button } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { SplitLayout } from "../../../ui/split-layout.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { graphqlRun, runQuery } from "../../../api/graphql.ts";
import { parseVariables, schemaQuery } from "./run-query.ts";
import styles from "./graphql-page.module.css";

const KEY = "railhead.graphql";
const EXAMPLE = `{
  executions(limit: 5) {
    nodes { id status startedAt endedAt application { name } }
  }
}
`;
/** Laying out longer answers would stop the page. */
const MOST_SHOWN = 500_000;

type Draft = { readonly query: string; readonly variables: string };

/** Runs GraphQL with the session. What was typed last stays in this browser. */
export function GraphqlPage() {
  useTitle("GraphQL");
  const schema = useQuery(schemaQuery);
  if (schema.error !== null) return <Notice tone="failed">{messageOf(schema.error)}</Notice>;
  return schema.data === undefined ? <SkeletonLines lines={8} /> : <Explorer schema={schema.data} />;
}

function Explorer({ schema }: { readonly schema: GraphQLSchema }) {
  const [draft, setDraft] = useState<Draft>(readDraft);
  const change = (next: Partial<Draft>): void => {
    const merged = { ...draft, ...next };
    setDraft(merged);
    localStorage.setItem(KEY, JSON.stringify(merged));
  };
  const run = useMutation({
    mutationFn: async ({ query, variables }: Draft) => {
      const parsed = parseVariables(variables);
      const startedAt = performance.now();
      const answer = await runQuery({ query, ...(parsed === undefined ? {} : { variables: parsed }) });
      return { text: JSON.stringify(answer, undefined, 2), ms: Math.round(performance.now() - startedAt) };
    },
  });
  const runLatest = useRef(() => run.mutate(draft));
  runLatest.current = () => run.mutate(draft);
  const [runKey] = useState(() => keymap.of([{ key: "Mod-Enter", run: () => (runLatest.current(), true) }]));
  const [language] = useState(() => [graphql(schema), autocompletion()]);
  return (
    <div className={styles.page}>
      <PageHeader
        title="GraphQL"
        meta="Ctrl Enter runs the document with your session. The schema completes what you type."
        actions={
          <>
            <CopyAs
              requests={[{ label: "This document", operation: graphqlRun, body: { query: draft.query } }]}
              queries={[{ label: "This document", query: draft.query }]}
            />
            <Button variant="primary" icon="play" busy={run.isPending} onClick={() => run.mutate(draft)}>
              Run
            </Button>
          </>
        }
      />
      <SplitLayout
        label="Width of the editor"
        storageKey="railhead.graphql.width"
        first={
          <div className={styles.editors}>
            <CodeEditor
              label="Document"
              value={draft.query}
              onChange={(query) => change({ query })}
              language={language}
              extensions={runKey}
            />
            <h2 className={styles.label}>Variables</h2>
            <CodeEditor
              label="Variables"
              value={draft.variables}
              onChange={(variables) => change({ variables })}
              extensions={runKey}
            />
          </div>
        }
        second={
          <section className={styles.result} aria-label="Answer" aria-live="polite">
            {run.error !== null && <Notice tone="failed">{messageOf(run.error)}</Notice>}
            {run.data === undefined ? (
              <p className={styles.none}>The answer appears here.</p>
            ) : (
              <>
                <p className={styles.none}>{run.data.ms} ms</p>
                <CodeBlock label="Answer" code={shorten(run.data.text)} maxHeight="70dvh" />
              </>
            )}
          </section>
        }
      />
    </div>
  );
}

const shorten = (text: string): string =>
  text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… cut here` : text;

function readDraft(): Draft {
  try {
    const { query, variables } = JSON.parse(localStorage.getItem(KEY) ?? "") as Partial<Draft>;
    if (typeof query === "string" && typeof variables === "string") return { query, variables };
  } catch {
    // Nothing was stored, or something else.
  }
  return { query: EXAMPLE, variables: "{}" };
}
