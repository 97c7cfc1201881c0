import { parse } from "yaml";
import type { TriggerContent } from "../../../api/operations.gen.ts";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { TagList } from "../../../ui/tag.tsx";
import styles from "../triggers.module.css";

/** The address to call, and what a call starts. */
export function WebhookCard({ trigger }: { readonly trigger: TriggerContent }) {
  const { webhookUrl, yaml } = trigger;
  const { runAs, inputSetRefs } = factsOf(yaml);
  return (
    <Card title="Webhook" description="Anyone who has the address can start the pipeline. Treat it like a password.">
      <div className={styles.webhook}>
        {webhookUrl === null ? (
          <p>The address is shown to those who may run the pipeline.</p>
        ) : (
          <>
            <CodeBlock label="Address of the webhook" code={webhookUrl} wrap />
            <div className={styles.buttons}>
              <CopyButton text={callOf(webhookUrl)} label="Copy a call as curl">
                Copy a call as curl
              </CopyButton>
            </div>
          </>
        )}
        <KeyValues
          items={[
            {
              key: "Acts for",
              value: runAs === undefined ? "The user who saved it last" : <Name>{`Service account ${runAs}`}</Name>,
            },
            { key: "Input sets", value: inputSetRefs.length === 0 ? null : <TagList tags={inputSetRefs} /> },
          ]}
        />
      </div>
    </Card>
  );
}

const callOf = (url: string): string =>
  `curl -X POST \\\n  -H 'content-type: application/json' \\\n  --data-raw '{}' \\\n  '${url}'`;

type Facts = { readonly runAs: string | undefined; readonly inputSetRefs: readonly string[] };

/** The server has checked the document. */
function factsOf(yaml: string): Facts {
  const { trigger } = parse(yaml) as {
    readonly trigger: { readonly runAs?: string | null; readonly inputSetRefs?: readonly string[] | null };
  };
  return { runAs: trigger.runAs ?? undefined, inputSetRefs: trigger.inputSetRefs ?? [] };
}
