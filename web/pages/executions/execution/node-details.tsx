import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../../api/client.ts";
import { executionReadInputs } from "../../../api/operations.gen.ts";
import type { RunNode } from "../../../components/execution-store.ts";
import { kindOf } from "../../../components/run-graph/node-kind.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Duration, ExactTime } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";

export function NodeDetails({ node }: { readonly node: RunNode }) {
  const { startTs, endTs, delegateInfoList, strategyMetadata, retryNodeMetadata, stepDetails } = node;
  const remaining = stepDetails.cancel?.survivors;
  return (
    <div className={styles.block}>
      <KeyValues
        items={[
          { key: "Kind", value: kindOf(node) },
          { key: "Identifier", value: <code className={styles.value}>{visibleText(node.identifier)}</code> },
          { key: "Path", value: <code className={styles.value}>{visibleText(node.baseFqn)}</code> },
          { key: "Started", value: startTs === null ? "Not yet" : <ExactTime at={startTs} /> },
          { key: "Ended", value: endTs === null ? null : <ExactTime at={endTs} /> },
          {
            key: "Duration",
            value: startTs === null ? null : <Duration startedAt={startTs} endedAt={endTs ?? undefined} />,
          },
          {
            key: "Delegate",
            value:
              delegateInfoList.length === 0
                ? null
                : delegateInfoList.map(({ id, name }) => <Name key={id}>{name}</Name>),
          },
          {
            key: "Iteration",
            value: strategyMetadata && `${strategyMetadata.iteration + 1} of ${strategyMetadata.total}`,
          },
          ...Object.entries(strategyMetadata?.matrix ?? {}).map(([name, value]) => ({
            key: `matrix ${name}`,
            label: visibleText(name),
            value: <span className={styles.value}>{visibleText(textOf(value))}</span>,
          })),
          {
            key: "Item",
            value:
              strategyMetadata?.item == null ? null : (
                <span className={styles.value}>{visibleText(textOf(strategyMetadata.item))}</span>
              ),
          },
          {
            key: "Remaining processes",
            value: remaining === undefined ? null : `${remaining} after it was ended`,
          },
          { key: "Taken over from", value: retryNodeMetadata && <EarlierNode metadata={retryNodeMetadata} /> },
        ]}
      />
      {node.executionInputConfigured && node.status !== "NotStarted" && node.status !== "InputWaiting" && (
        <SubmittedInputs nodeExecutionId={node.uuid} />
      )}
    </div>
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The node of the earlier execution, which ran in place of this one. */
function EarlierNode({ metadata }: { readonly metadata: NonNullable<RunNode["retryNodeMetadata"]> }) {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  return (
    <Link
      to="/projects/$org/$project/executions/$execution"
      params={{ org, project, execution: metadata.originalExecutionId }}
      search={{ node: metadata.originalNodeExecutionId }}
    >
      The earlier execution
    </Link>
  );
}

function SubmittedInputs({ nodeExecutionId }: { readonly nodeExecutionId: string }) {
  const scope = useProjectScope();
  const { data } = useQuery(dataQuery(executionReadInputs, { path: { nodeExecutionId }, query: scope }));
  return data?.userInput == null ? null : (
    <CodeBlock label="Submitted inputs" code={visibleText(data.userInput)} maxHeight="16rem" wrap />
  );
}
