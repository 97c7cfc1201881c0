import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { answerQuery, request } from "../../../api/client.ts";
import { secretGetUsageScope, secretUpdateUsageScope } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { ScopeEntries } from "./scope-entries.tsx";
import { bodyOf, entriesOf, FIRST_ENTRY, modeOf, type Mode, type UsageScope } from "./usage-scope.ts";

type EditUsageScopeProps = {
  readonly scope: Scope;
  readonly identifier: string;
  readonly name: string;
  readonly onClose: () => void;
};

/** Which executions may use a secret. */
export function EditUsageScope(props: EditUsageScopeProps) {
  const { scope, identifier, name, onClose } = props;
  const query = answerQuery(secretGetUsageScope, { path: { identifier }, query: { ...scope } });
  const stored = useQuery({
    ...query,
    queryKey: [...query.queryKey, "edit"],
    // The version that the user began to change stays.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (stored.data !== undefined) return <Editor {...props} stored={stored.data.answer.data} etag={stored.data.etag} />;
  return (
    <Dialog open title={`Usage scope of ${name}`} onClose={onClose}>
      {stored.error === null ? <SkeletonLines lines={4} /> : <Notice tone="failed">{messageOf(stored.error)}</Notice>}
    </Dialog>
  );
}

type EditorProps = EditUsageScopeProps & { readonly stored: UsageScope; readonly etag: string | undefined };

function Editor({ scope, identifier, name, stored, etag, onClose }: EditorProps) {
  const [mode, setMode] = useState<Mode>(() => modeOf(stored));
  const [entries, setEntries] = useState(() => {
    const former = entriesOf(stored);
    return former.length > 0 ? former : [FIRST_ENTRY];
  });
  const queryClient = useQueryClient();
  const show = useToast();
  const save = useMutation({
    mutationFn: () =>
      request(
        secretUpdateUsageScope,
        { path: { identifier }, query: { ...scope }, body: bodyOf(mode, entries) },
        { headers: etag === undefined ? {} : { "if-match": etag } },
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [secretGetUsageScope.id] });
      show({ tone: "success", message: `The usage scope of ${name} was saved.` });
      onClose();
    },
  });
  return (
    <Dialog
      open
      title={`Usage scope of ${name}`}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            busy={save.isPending}
            disabled={mode === "entries" && entries.length === 0}
          >
            Save
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <RadioGroup
        label="Which executions may use it"
        value={mode}
        onChange={setMode}
        options={[
          {
            value: "inherit",
            label: "As its secret manager allows",
            hint: `The scope of ${stored.secretManagerIdentifier} counts, also when it changes.`,
          },
          {
            value: "entries",
            label: "Those of certain projects and environments",
            hint: "Within the manager’s scope.",
          },
          { value: "none", label: "None", hint: "Steps that name it fail. Connectors may still use it." },
        ]}
      />
      {mode === "entries" && <ScopeEntries entries={entries} onChange={setEntries} />}
    </Dialog>
  );
}
