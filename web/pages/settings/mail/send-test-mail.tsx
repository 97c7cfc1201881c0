import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { smtpConfigTest } from "../../../api/operations.gen.ts";
import { currentSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import styles from "./mail-page.module.css";

/** Sends a mail with the saved settings, and shows what the mail server says. */
export function SendTestMail() {
  const [to, setTo] = useState(() => currentSession().user.email);
  const test = useMutation({ mutationFn: (address: string) => fetchData(smtpConfigTest, { query: { to: address } }) });
  return (
    <Section title="Test" description="The saved settings are used.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!test.isPending) test.mutate(to.trim());
        }}
      >
        <div className={styles.test}>
          <FormField label="Send a test mail to">
            <TextField type="email" value={to} onChange={(event) => setTo(event.target.value)} />
          </FormField>
          <Button type="submit" icon="mail" busy={test.isPending}>
            Send test mail
          </Button>
        </div>
      </form>
      <div className={styles.result}>
        {test.error !== null && <Notice tone="failed">{messageOf(test.error)}</Notice>}
        {test.data?.valid === true && (
          <Notice tone="success">The mail server took the mail to {test.variables}.</Notice>
        )}
        {test.data?.valid === false && (
          <Notice tone="failed" title="The mail was not sent">
            {test.data.errorMessage}
          </Notice>
        )}
      </div>
    </Section>
  );
}
