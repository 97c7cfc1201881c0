import type { ReactNode } from "react";
import { KeyValues } from "../../../ui/key-values.tsx";
import { TagList } from "../../../ui/tag.tsx";
import styles from "./pipeline-editor.module.css";
import type { Plan } from "./use-check.ts";

/** What a run of the document would ask for and use. */
export function PlanFacts({ plan }: { readonly plan: Plan }) {
  const named = plan.nodes.filter((node) => node.kind !== "Parallel");
  const stages = named.filter((node) => node.kind === "Stage");
  const steps = named.filter((node) => node.kind === "Step");
  const all = (values: readonly (string | null)[]): readonly string[] =>
    [...new Set(values.filter((value) => value !== null))].toSorted();
  const connectors = stages.map(({ infrastructure }) => infrastructure?.connector ?? null);
  const selectors = [
    ...plan.delegateSelectors,
    ...named.flatMap((node) => (node.kind === "StepGroup" ? [] : node.delegateSelectors)),
  ];
  return (
    <div className={styles.facts}>
      <KeyValues
        items={[
          { key: "Stages", value: String(stages.length) },
          { key: "Steps", value: String(steps.length) },
          { key: "Timeout", value: plan.timeout },
          { key: "Asks for", value: tags(plan.inputs.map(({ name }) => name)) },
          { key: "Services", value: tags(all(stages.map(({ service }) => service))) },
          { key: "Environments", value: tags(all(stages.map(({ environment }) => environment))) },
          { key: "Connectors", value: tags(all(connectors)) },
          { key: "Secrets", value: tags(all([...plan.secrets, ...named.flatMap(({ secrets }) => secrets)])) },
          { key: "Delegates", value: tags(all(selectors)) },
          { key: "Barriers", value: tags(plan.barriers.map(({ name }) => name)) },
        ]}
      />
    </div>
  );
}

const tags = (values: readonly string[]): ReactNode => (values.length === 0 ? undefined : <TagList tags={values} />);
