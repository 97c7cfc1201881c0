import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import {
  delegateTokenCreate,
  delegateTokenDelete,
  delegateTokenGroups,
  delegateTokenList,
  delegateTokenRevoke,
} from "../../../api/operations.gen.ts";
import { ShownOnce } from "../../../components/shown-once.tsx";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { DateField } from "../../../ui/date-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { fetchResource } from "./delegate.ts";

export function CreateToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [end, setEnd] = useState("");
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      fetchResource(delegateTokenCreate, {
        query: { tokenName: name.trim(), ...(end === "" ? {} : { revokeAfter: new Date(end).getTime() }) },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [delegateTokenList.id] }),
  });
  if (create.data !== undefined)
    return (
      <Dialog
        open
        title={`Token ${create.data.name}`}
        onClose={onClose}
        actions={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <ShownOnce label="Token" value={create.data.value ?? ""} />
      </Dialog>
    );
  return (
    <Dialog
      open
      size="small"
      title="New delegate token"
      onClose={onClose}
      onSubmit={() => create.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create token
          </Button>
        </>
      }
    >
      {create.error !== null && <Notice tone="failed">{messageOf(create.error)}</Notice>}
      <FormLayout>
        <FormField label="Name" required>
          <TextField mono value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        <FormField label="Revoke it at" optional hint="In your time zone. Its delegates lose their connection then.">
          <DateField withTime value={end} onChange={setEnd} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

type EndTokenProps = { readonly action: "revoke" | "delete"; readonly name: string; readonly onClose: () => void };

export function EndToken({ action, name, onClose }: EndTokenProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const groups = useQuery({
    queryKey: [delegateTokenGroups.id, name],
    queryFn: () => fetchResource(delegateTokenGroups, { query: { delegateTokenName: name } }),
  });
  const end = useMutation({
    mutationFn: (): Promise<unknown> =>
      fetchResource(action === "revoke" ? delegateTokenRevoke : delegateTokenDelete, { query: { tokenName: name } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [delegateTokenList.id] });
      show({ tone: "success", message: `Token ${name} was ${action === "revoke" ? "revoked" : "deleted"}.` });
      onClose();
    },
  });
  const users = groups.data?.map((group) => group.name) ?? [];
  const verb = action === "revoke" ? "Revoke" : "Delete";
  return (
    <ConfirmDialog
      open
      title={`${verb} token ${name}?`}
      action={`${verb} token`}
      busy={end.isPending || groups.isPending}
      error={end.error === null ? undefined : messageOf(end.error)}
      onConfirm={() => end.mutate()}
      onClose={onClose}
    >
      {users.length === 0
        ? "No delegate uses it."
        : `Connections of ${namesOf(users)} end within a second, and their running tasks fail after a minute.`}{" "}
      This cannot be undone.
    </ConfirmDialog>
  );
}

function namesOf(names: readonly string[]): string {
  const few = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${few} and ${names.length - 5} more` : few;
}
