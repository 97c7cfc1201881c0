import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { fetchData } from "../../api/client.ts";
import { passwordChange, sessionList } from "../../api/operations.gen.ts";
import { currentSession, resumeSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { FormField, FormLayout } from "../../ui/form-field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./profile-page.module.css";

const EMPTY = { current: "", next: "", again: "" };

export function ChangePassword() {
  const { user, hasPassword, openIdConnect } = currentSession();
  const [fields, setFields] = useState(EMPTY);
  const queryClient = useQueryClient();
  const show = useToast();
  const isDifferent = fields.again !== "" && fields.again !== fields.next;
  const change = useMutation({
    mutationFn: async () => {
      await fetchData(passwordChange, { body: { currentPassword: fields.current, newPassword: fields.next } });
      // The server has begun a new session, with another token against forged requests.
      await resumeSession();
    },
    onSuccess: async () => {
      setFields(EMPTY);
      await queryClient.invalidateQueries({ queryKey: [sessionList.id] });
      show({ tone: "success", message: "The password was changed. Your other sessions have ended." });
    },
  });
  const set = (name: keyof typeof EMPTY) => (event: { readonly target: { readonly value: string } }) =>
    setFields((former) => ({ ...former, [name]: event.target.value }));
  if (!hasPassword)
    return (
      <Notice title="You have no password">
        You sign in with {openIdConnect?.name ?? "your identity provider"}. An administrator can give you a one-time
        password.
      </Notice>
    );
  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isDifferent && fields.next === fields.again && !change.isPending) change.mutate();
      }}
    >
      {change.error !== null && <Notice tone="failed">{messageOf(change.error)}</Notice>}
      <FormLayout>
        {/* Password managers need the name of the account. */}
        <input type="hidden" name="username" autoComplete="username" value={user.email} />
        <FormField label="Current password" required>
          <TextField type="password" autoComplete="current-password" value={fields.current} onChange={set("current")} />
        </FormField>
        <FormField label="New password" required hint="12 to 200 characters of any kind.">
          <TextField type="password" autoComplete="new-password" value={fields.next} onChange={set("next")} />
        </FormField>
        <FormField label="New password, again" required error={isDifferent && "The two new passwords differ."}>
          <TextField type="password" autoComplete="new-password" value={fields.again} onChange={set("again")} />
        </FormField>
      </FormLayout>
      <div>
        <Button type="submit" variant="primary" busy={change.isPending}>
          Change password
        </Button>
      </div>
    </form>
  );
}
