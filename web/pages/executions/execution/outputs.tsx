import type { ExecutionOutcomes } from "../../../api/operations.gen.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./outputs.module.css";

export type Output = { readonly name: string; readonly value: string };

/** Output variables, and what else a step leaves for others, such as the inputs of an approver. */
export function outputsOf({ output }: ExecutionOutcomes): readonly Output[] {
  if (output === undefined) return [];
  const { outputVariables, ...others } = output;
  return [
    ...Object.entries(outputVariables).map(([name, value]) => ({ name, value })),
    ...Object.entries(others).map(([name, value]) => ({ name, value: textOf(value) })),
  ];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, undefined, 2));

export function Outputs({ outputs }: { readonly outputs: readonly Output[] }) {
  return (
    <KeyValues
      layout="columns"
      items={outputs.map(({ name, value }) => ({
        key: name,
        label: <span className={styles.name}>{visibleText(name)}</span>,
        value: (
          <span className={styles.row}>
            <code className={styles.value}>{value === "" ? "(empty)" : visibleText(value)}</code>
            <CopyButton text={value} label={`Copy ${visibleText(name)}`} />
          </span>
        ),
      }))}
    />
  );
}
