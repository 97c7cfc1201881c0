import { useState } from "react";
import { ToneIcon } from "../../components/status-icon.tsx";
import { Avatar, Person } from "../../ui/avatar.tsx";
import { Bytes } from "../../ui/bytes.tsx";
import { Card } from "../../ui/card.tsx";
import { Code, CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { Name } from "../../ui/name.tsx";
import { Duration, ExactTime, RelativeTime } from "../../ui/time.tsx";
import { Tree, type TreeNode } from "../../ui/tree.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import styles from "./components-page.module.css";
import { CHANGED_YAML, HOSTILE_NAME, LONG_NAME, SAMPLE_TIME, SAMPLE_YAML } from "./samples.ts";

interface Step extends TreeNode {
  readonly tone: "success" | "failed" | "running" | "neutral";
  readonly detail?: string;
  readonly children?: readonly Step[];
}

const STEPS: readonly Step[] = [
  {
    id: "build",
    label: "build",
    tone: "failed",
    detail: "3m 5s",
    children: [
      { id: "compile", label: "compile", tone: "success", detail: "12s" },
      { id: "test", label: HOSTILE_NAME, tone: "failed", detail: "2m 40s" },
    ],
  },
  { id: "deploy", label: LONG_NAME, tone: "neutral" },
];

const LINES = Array.from({ length: 10_000 }, (_, index) => `Line ${index + 1}`);

const FACTS = [
  { key: "Started", value: <ExactTime at={SAMPLE_TIME} /> },
  { key: "Last change", value: <RelativeTime at={SAMPLE_TIME} /> },
  { key: "Duration", value: <Duration startedAt={SAMPLE_TIME} endedAt={SAMPLE_TIME + 185_000} /> },
  { key: "Started by", value: <Person name="Ada Lovelace" /> },
  { key: "Log", value: <Bytes bytes={1_467_392} /> },
  { key: "Identifier", value: <Code>deploy_shop</Code> },
  { key: "Name", value: <Name>{HOSTILE_NAME}</Name> },
  { key: "Branch", value: LONG_NAME },
  { key: "Left out", value: null },
];

export function Content() {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set(["build"]));
  const [selected, setSelected] = useState("compile");
  return (
    <>
      <div className={styles.wide}>
        <Card title="Facts in rows">
          <KeyValues items={FACTS} />
        </Card>
        <Card title="Facts in columns" actions={<Avatar name="Ada Lovelace" size="large" />}>
          <KeyValues items={FACTS.slice(0, 6)} layout="columns" />
        </Card>
        <Card title="Tree">
          <Tree
            label="Steps"
            nodes={STEPS}
            expanded={expanded}
            onExpandedChange={setExpanded}
            selected={selected}
            onSelect={({ id }) => setSelected(id)}
            renderIcon={({ tone }) => <ToneIcon tone={tone} size={14} />}
            renderDetail={({ detail }) => detail}
          />
        </Card>
        <Card title="Virtual list" flush>
          <VirtualList
            label="Lines"
            items={LINES}
            itemKey={(line) => line}
            renderItem={(line) => <div className={styles.line}>{line}</div>}
            estimatedHeight={29}
            height="10rem"
          />
        </Card>
      </div>
      <Card title="Code and differences">
        <div className={styles.stack}>
          <CodeBlock
            label="Install command"
            code={'docker run -d -e DELEGATE_TOKEN="$TOKEN" -e SERVER=https://railhead.example.org railhead-delegate'}
          />
          <CodeBlock label="Pipeline" code={SAMPLE_YAML} maxHeight="8rem" />
          <DiffView label="Version 3 and version 4" before={SAMPLE_YAML} after={CHANGED_YAML} />
          <DiffView label="Version 4 and version 4" before={SAMPLE_YAML} after={SAMPLE_YAML} />
        </div>
      </Card>
    </>
  );
}
