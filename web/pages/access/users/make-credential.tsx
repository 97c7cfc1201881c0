import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { invitationCreate, invitationList, passwordSetOneTime } from "../../../api/operations.gen.ts";
import { ShownOnce } from "../../../components/shown-once.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";

type MakeCredentialProps = {
  readonly kind: "invite" | "password";
  readonly user: { readonly uuid: string; readonly name: string; readonly email: string };
  readonly onClose: () => void;
};

const DAYS = [
  { value: "1", label: "a day" },
  { value: "7", label: "a week" },
  { value: "30", label: "30 days" },
] as const;
type Days = (typeof DAYS)[number]["value"];

/** An invitation link or a one-time password, shown once. */
export function MakeCredential({ kind, user, onClose }: MakeCredentialProps) {
  const [days, setDays] = useState<Days>("7");
  const queryClient = useQueryClient();
  const path = { userId: user.uuid };
  const isLink = kind === "invite";
  const make = useMutation({
    mutationFn: async () =>
      isLink
        ? (await fetchData(invitationCreate, { path, body: { validDays: Number(days) } })).link
        : (await fetchData(passwordSetOneTime, { path })).oneTimePassword,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [invitationList.id] }),
  });
  const title = isLink ? `Invitation of ${user.name}` : `One-time password of ${user.name}`;
  if (make.data !== undefined)
    return (
      <Dialog
        open
        title={title}
        onClose={onClose}
        actions={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <ShownOnce label={isLink ? "Invitation link" : "One-time password"} value={make.data}>
          {isLink
            ? `Send this link to ${user.email}. Anyone who has the link can choose the password of the account.`
            : `${user.email} signs in with it once, and chooses another password then.`}
        </ShownOnce>
      </Dialog>
    );
  return (
    <Dialog
      open
      size="small"
      title={title}
      onClose={onClose}
      onSubmit={() => make.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={make.isPending}>
            {isLink ? "Create link" : "Set one-time password"}
          </Button>
        </>
      }
    >
      {make.error !== null && <Notice tone="failed">{messageOf(make.error)}</Notice>}
      {isLink ? (
        <FormLayout>
          <FormField label="Valid for" hint="Once. A former link is refused from now on.">
            <Select value={days} onChange={setDays} options={DAYS} />
          </FormField>
        </FormLayout>
      ) : (
        <p>It replaces the password of {user.email} and ends the sessions of the user.</p>
      )}
    </Dialog>
  );
}
