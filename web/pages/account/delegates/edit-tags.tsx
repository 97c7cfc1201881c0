import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { delegateTagsReplace } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { fetchResource, type Delegate } from "./delegate.ts";

type EditTagsProps = { readonly delegate: Delegate; readonly onClose: () => void };

export function EditTags({ delegate, onClose }: EditTagsProps) {
  const [text, setText] = useState(delegate.tags.join(", "));
  const save = useMutation({
    mutationFn: () =>
      fetchResource(delegateTagsReplace, { path: { delegateId: delegate.uuid }, body: { tags: parseTags(text) } }),
    onSuccess: onClose,
  });
  return (
    <Dialog
      open
      size="small"
      title={`Tags of ${delegate.delegateName}`}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save tags
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <FormLayout>
        <FormField
          label="Tags"
          hint="Separated by commas. They count at once for waiting steps. A delegate that is started with other tags replaces them."
        >
          <TextField mono value={text} onChange={(event) => setText(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

/** Empty ones are left out. */
export const parseTags = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
