import { currentSession } from "../../../api/session.ts";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import styles from "./scim-page.module.css";

/** What to enter at the identity provider. */
export function ProviderFacts() {
  const { accountIdentifier } = currentSession();
  return (
    <Card title="4. At the identity provider" description="Enter this where it asks for the SCIM connector or tenant.">
      <div className={styles.fields}>
        <CodeBlock label="Base URL" wrap code={`${location.origin}/ng/api/scim/account/${accountIdentifier}`} />
        <KeyValues
          items={[
            { key: "Unique identifier", value: "userName" },
            { key: "Actions", value: "Create, update and deactivate users; push groups" },
            { key: "Authentication", value: "HTTP header, Bearer with the signed token" },
          ]}
        />
        <p className={styles.note}>
          A provider that cannot sign tokens takes a token of the service account instead. The settings above are not
          needed for it.
        </p>
      </div>
    </Card>
  );
}
