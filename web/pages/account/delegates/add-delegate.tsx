import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { delegateGetStartCommand, delegateTokenCreate, delegateTokenList } from "../../../api/operations.gen.ts";
import { ShownOnce } from "../../../components/shown-once.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { fetchResource } from "./delegate.ts";
import { parseTags } from "./edit-tags.tsx";

/** Makes a token for one delegate, and shows the command that starts it. */
export function AddDelegate({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: async () => {
      const wanted = parseTags(tags);
      // The command is made first, because it checks the name and leaves nothing behind.
      const { command, tokenPlaceholder } = await fetchResource(delegateGetStartCommand, {
        query: { name: name.trim(), ...(wanted.length > 0 ? { tag: wanted } : {}) } as { name: string },
      });
      const token = await fetchResource(delegateTokenCreate, { query: { tokenName: name.trim() } });
      // The name of the variable contains the placeholder, too.
      return command.replace(`'${tokenPlaceholder}'`, `'${token.value ?? ""}'`);
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [delegateTokenList.id] }),
  });
  if (create.data !== undefined)
    return (
      <Dialog
        open
        title={`Start delegate ${name.trim()}`}
        onClose={onClose}
        actions={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <ShownOnce label="Command that starts the delegate" value={create.data}>
          Run this command on the machine. The delegate appears in the list as soon as it is connected.
        </ShownOnce>
      </Dialog>
    );
  return (
    <Dialog
      open
      title="Add a delegate"
      onClose={onClose}
      onSubmit={() => create.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create token and command
          </Button>
        </>
      }
    >
      {create.error !== null && <Notice tone="failed">{messageOf(create.error)}</Notice>}
      <FormLayout>
        <FormField label="Name" required hint="Of the delegate, and of the token that is created for it.">
          <TextField mono value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        <FormField label="Tags" optional hint="Separated by commas, such as linux, eu. Steps choose delegates by them.">
          <TextField mono value={tags} onChange={(event) => setTags(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}
