import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { executionChanges } from "../../../api/operations.gen.ts";
import { projectPath } from "../../../api/recent-project.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Card } from "../../../ui/card.tsx";
import { KeyValues, type KeyValue } from "../../../ui/key-values.tsx";
import { Link, PathLink } from "../../../ui/link.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

/** Characters of a commit's id that tell it from others. */
const COMMIT_LENGTH = 10;

type Changed = DataOf<typeof executionChanges>;

type ChangesProps = { readonly planExecutionId: string; readonly pipelineIdentifier: string };

/** What has changed since the last execution of the pipeline that succeeded; nothing if none has. */
export function Changes({ planExecutionId, pipelineIdentifier }: ChangesProps) {
  const params = route.useParams();
  const scope = useProjectScope();
  const { data } = useQuery(dataQuery(executionChanges, { path: { planExecutionId }, query: scope }));
  const previous = data?.previous ?? null;
  if (data === undefined || previous === null) return null;
  return (
    <Card
      title="Changes since the last success"
      actions={
        <PathLink path={`${projectPath(params)}/executions/${previous.planExecutionId}`}>
          Execution #{previous.runSequence}
        </PathLink>
      }
    >
      <Comparison changed={data} previous={previous} pipelineIdentifier={pipelineIdentifier} />
    </Card>
  );
}

type ComparisonProps = {
  readonly changed: Changed;
  readonly previous: NonNullable<Changed["previous"]>;
  readonly pipelineIdentifier: string;
};

function Comparison({ changed, previous, pipelineIdentifier }: ComparisonProps) {
  const params = route.useParams();
  const { execution, isPipelineChanged, isCommitChanged, inputs, hasMoreInputs } = changed;
  const items: readonly KeyValue[] = [
    isPipelineChanged && {
      key: "Pipeline",
      value: (
        <Link
          to="/projects/$org/$project/pipelines/$pipeline/versions"
          params={{ ...params, pipeline: pipelineIdentifier }}
          search={{ version: execution.pipelineVersion, with: previous.pipelineVersion }}
        >
          version {previous.pipelineVersion} → {execution.pipelineVersion}
        </Link>
      ),
    },
    isCommitChanged && {
      key: "Commit",
      value: <Change before={shortCommit(previous.commitId)} after={shortCommit(execution.commitId)} />,
    },
    ...inputs.map(({ path, before, after, isSecret }) => ({
      key: `input ${path}`,
      label: <code>{visibleText(path)}</code>,
      value: isSecret ? "another secret" : <Change before={before} after={after} />,
    })),
    hasMoreInputs && { key: "More", value: "More inputs differ." },
  ].filter((item) => item !== false);
  if (items.length === 0) return <p className={styles.muted}>The pipeline, its inputs and the commit are the same.</p>;
  return <KeyValues items={items} />;
}

function Change({ before, after }: { readonly before: string | null; readonly after: string | null }): ReactNode {
  return (
    <>
      <Value text={before} /> → <Value text={after} />
    </>
  );
}

const Value = ({ text }: { readonly text: string | null }) =>
  text === null ? <span className={styles.muted}>none</span> : <code>{visibleText(text)}</code>;

const shortCommit = (id: string | null): string | null => id?.slice(0, COMMIT_LENGTH) ?? null;
