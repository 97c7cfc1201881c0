import type { ReactNode } from "react";
import { ToneIcon } from "../../../components/status-icon.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Code } from "../../../ui/code-block.tsx";
import { Name } from "../../../ui/name.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import styles from "./scim-page.module.css";
import { fieldOf, LABELS, SETTING_COUNT, type ScimCheck } from "./scim-settings.ts";

type CheckResultProps = {
  readonly check: ScimCheck | undefined;
  readonly isChecking: boolean;
  readonly onCheck: () => void;
};

/** What the server finds with the saved settings. */
export function CheckResult({ check, isChecking, onCheck }: CheckResultProps) {
  return (
    <Card
      title="3. Check"
      description="What the server finds with the saved settings. It fetches the key set at most every 30 seconds."
      actions={
        <Button size="small" icon="refresh" busy={isChecking} onClick={onCheck}>
          Check again
        </Button>
      }
    >
      {check === undefined ? (
        <SkeletonLines lines={3} />
      ) : check.missingSettings.length === SETTING_COUNT ? (
        <p className={styles.note}>Nothing is set yet. No token is accepted until all settings have a value.</p>
      ) : (
        <ul className={styles.results}>
          <Settings check={check} />
          <ServiceAccount check={check} />
          <KeySet check={check} />
        </ul>
      )}
    </Card>
  );
}

type ResultProps = { readonly tone: "success" | "failed" | "neutral"; readonly children: ReactNode };

const Result = ({ tone, children }: ResultProps) => (
  <li className={styles.result}>
    <span>
      <ToneIcon tone={tone} />
    </span>
    <div>{children}</div>
  </li>
);

type CheckProps = { readonly check: ScimCheck };

function Settings({ check: { missingSettings } }: CheckProps) {
  if (missingSettings.length === 0) return <Result tone="success">All settings have a value.</Result>;
  const names = missingSettings.map((identifier) => {
    const field = fieldOf(identifier);
    return field === undefined ? identifier : LABELS[field].toLowerCase();
  });
  return <Result tone="failed">Without a value: {names.join(", ")}. No token is accepted until all have one.</Result>;
}

function ServiceAccount({ check: { serviceAccount } }: CheckProps) {
  if (serviceAccount === null) return <Result tone="neutral">No service account is named.</Result>;
  const name = <Name>{serviceAccount.identifier}</Name>;
  return serviceAccount.found ? (
    <Result tone="success">Service account {name} exists.</Result>
  ) : (
    <Result tone="failed">The account has no service account {name}. Create it, or name another one.</Result>
  );
}

function KeySet({ check: { keySet } }: CheckProps) {
  if (keySet === null) return <Result tone="neutral">No key set is named.</Result>;
  const { keys, failure } = keySet;
  return (
    <Result tone={failure === null && keys.length > 0 ? "success" : "failed"}>
      {failure !== null && <p>The key set could not be fetched: {failure}.</p>}
      {failure === null && keys.length === 0 && <p>The key set has no key that verifies signatures.</p>}
      {keys.length > 0 && (
        <>
          <p>
            {failure === null ? "The key set has" : "Of an earlier fetch there are"}{" "}
            {keys.length === 1 ? "1 key" : `${keys.length} keys`} for signatures:
          </p>
          <ul className={styles.keys}>
            {keys.map(({ kid, algorithms }, index) => (
              // Several keys may have no ID.
              <li key={`${index} ${kid}`}>
                {kid === null ? "Key without ID" : <Code>{kid}</Code>}{" "}
                <span className={styles.note}>{algorithms.join(", ")}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Result>
  );
}
