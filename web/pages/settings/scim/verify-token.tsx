import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { settingCheckScimJwt } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import styles from "./scim-page.module.css";
import { readToken } from "./read-token.ts";

/** Tells whether a token of the provider is accepted, and why not. */
export function VerifyToken({ isComplete }: { readonly isComplete: boolean }) {
  const [token, setToken] = useState("");
  const verify = useMutation({
    mutationFn: (sent: string) => fetchData(settingCheckScimJwt, { body: { token: sent } }),
    // It is a credential: nothing keeps it once the page is left.
    gcTime: 0,
  });
  const result = verify.data?.token;
  const parts = result === undefined || result === null ? undefined : readToken(verify.variables ?? "");
  return (
    <Card
      title="5. Verify a token"
      description="The server answers as SCIM does to a request with it. It does not store or log the token."
    >
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          if (!verify.isPending && token.trim() !== "") verify.mutate(token.trim());
        }}
      >
        <FormField
          label="Token"
          hint={
            isComplete ? "Three parts with dots between them, without the word Bearer." : "Complete the settings first."
          }
        >
          <TextArea
            mono
            rows={4}
            maxLength={8_192}
            value={token}
            onChange={(event) => {
              setToken(event.target.value);
              verify.reset();
            }}
          />
        </FormField>
        <div className={styles.actions}>
          <Button type="submit" disabled={token.trim() === ""} busy={verify.isPending}>
            Verify token
          </Button>
        </div>
        {verify.error !== null && <Notice tone="failed">{messageOf(verify.error)}</Notice>}
        {result?.accepted === true && <Notice tone="success">The token is accepted.</Notice>}
        {result?.accepted === false && (
          <Notice tone="failed" title="The token is refused">
            {result.reason}
          </Notice>
        )}
        {parts && <CodeBlock label="Content of the token" code={parts} maxHeight="20rem" />}
      </form>
    </Card>
  );
}
