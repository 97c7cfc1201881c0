/** What the page of an execution keeps in its address. */
export type ExecutionSearch = {
  /** The selected node. */
  readonly node?: string;
  readonly view?: "timeline";
  readonly tab?: NodeTab;
};

export const NODE_TABS = ["log", "outputs", "attempts", "details"] as const;
export type NodeTab = (typeof NODE_TABS)[number];

export function parseExecutionSearch({ node, view, tab }: Readonly<Record<string, unknown>>): ExecutionSearch {
  const known = NODE_TABS.find((one) => one === tab);
  return {
    ...(typeof node === "string" && node !== "" ? { node } : {}),
    ...(view === "timeline" ? { view } : {}),
    ...(known === undefined ? {} : { tab: known }),
  };
}
