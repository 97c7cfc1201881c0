import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import type { AnyOperation } from "../../../api/operation.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { identifierFor } from "../../../util/identifier.ts";

export type Details = { readonly identifier: string; readonly name: string; readonly description: string };

type EditDetailsProps = {
  /** The kind: group */
  readonly noun: string;
  readonly former: Details | undefined;
  readonly save: (details: Details) => Promise<unknown>;
  readonly lists: readonly AnyOperation[];
  readonly onClose: () => void;
  readonly onSaved?: ((details: Details) => void) | undefined;
};

/** Creates something that has a name, an identifier and a description, or changes the former one. */
export function EditDetails({ noun, former, save, lists, onClose, onSaved }: EditDetailsProps) {
  const [name, setName] = useState(former?.name ?? "");
  const [typed, setTyped] = useState<string>();
  const [description, setDescription] = useState(former?.description ?? "");
  const queryClient = useQueryClient();
  const details = { identifier: former?.identifier ?? typed ?? identifierFor(name), name: name.trim(), description };
  const submit = useMutation({
    mutationFn: () => save(details),
    onSuccess: async () => {
      await Promise.all(lists.map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] })));
      onClose();
      onSaved?.(details);
    },
  });
  return (
    <Dialog
      open
      size="small"
      title={former ? `Edit ${former.name}` : `New ${noun}`}
      onClose={onClose}
      onSubmit={() => submit.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={submit.isPending}>
            {former ? "Save" : `Create ${noun}`}
          </Button>
        </>
      }
    >
      {submit.error !== null && <Notice tone="failed">{messageOf(submit.error)}</Notice>}
      <FormLayout>
        <FormField label="Name" required>
          <TextField value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        {!former && (
          <FormField label="Identifier" required hint="Used in YAML and scripts. It cannot be changed.">
            <TextField mono value={details.identifier} onChange={(event) => setTyped(event.target.value)} />
          </FormField>
        )}
        <FormField label="Description" optional>
          <TextArea rows={3} value={description} onChange={(event) => setDescription(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}
