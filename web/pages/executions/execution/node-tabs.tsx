import type { RunNode } from "../../../components/execution-store.ts";
import { isStep } from "../../../components/run-graph/node-kind.ts";
import { Tabs, type Tab } from "../../../ui/tabs.tsx";
import { Attempts } from "./attempts.tsx";
import type { NodeTab } from "./execution-search.ts";
import { LogPreview } from "./log-preview.tsx";
import { NodeDetails } from "./node-details.tsx";
import { Outputs, outputsOf } from "./outputs.tsx";

type NodeTabsProps = {
  readonly node: RunNode;
  readonly tab: NodeTab | undefined;
  readonly onTab: (tab: NodeTab) => void;
};

const SILENT: ReadonlySet<string> = new Set(["PlatformApproval", "Wait", "Queue", "Barrier"]);

export function NodeTabs({ node, tab, onTab }: NodeTabsProps) {
  const outputs = outputsOf(node.outcomes);
  const { earlierAttempts } = node;
  const hasLog = isStep(node) && node.status !== "NotStarted" && !SILENT.has(node.stepType);
  const tabs: readonly Tab<NodeTab>[] = [
    ...(hasLog ? [{ id: "log" as const, label: "Log", content: <LogPreview node={node} /> }] : []),
    ...(outputs.length > 0
      ? [
          {
            id: "outputs" as const,
            label: "Outputs",
            count: outputs.length,
            content: <Outputs outputs={outputs} />,
          },
        ]
      : []),
    ...(earlierAttempts.length > 0
      ? [
          {
            id: "attempts" as const,
            label: "Attempts",
            count: earlierAttempts.length + 1,
            content: <Attempts node={node} />,
          },
        ]
      : []),
    { id: "details", label: "Details", content: <NodeDetails node={node} /> },
  ];
  const [first] = tabs;
  const selected = tabs.find(({ id }) => id === tab) ?? first;
  if (selected === undefined) return null;
  return <Tabs label="About the node" tabs={tabs} selected={selected.id} onChange={onTab} />;
}
