import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { fetchData } from "../../api/client.ts";
import { tokenAggregates, tokenRotate } from "../../api/operations.gen.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../ui/form-field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Select } from "../../ui/select.tsx";
import { NewToken } from "./create-token.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";
import type { TokenRow } from "./token-row.ts";

type RotateTokenProps = { readonly owner: TokenOwner; readonly row: TokenRow; readonly onClose: () => void };

const HOUR_MS = 3_600_000;
const OVERLAPS = [
  { value: "0", label: "at once" },
  { value: "1", label: "in an hour" },
  { value: "24", label: "in a day" },
  { value: "168", label: "in a week" },
] as const;
type Overlap = (typeof OVERLAPS)[number]["value"];

/** Gives the token a new text. The old one stays valid for a time, so that programs can change over. */
export function RotateToken({ owner, row: { token }, onClose }: RotateTokenProps) {
  const [hours, setHours] = useState<Overlap>("24");
  const queryClient = useQueryClient();
  const rotate = useMutation({
    mutationFn: () =>
      fetchData(tokenRotate, {
        path: { identifier: token.identifier },
        query: {
          ...ownerQuery(owner),
          apiKeyIdentifier: token.apiKeyIdentifier,
          ...(hours === "0" ? {} : { rotateTimestamp: Date.now() + Number(hours) * HOUR_MS }),
        },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [tokenAggregates.id] }),
  });
  if (rotate.data !== undefined)
    return <NewToken title={`Token ${token.name}`} value={rotate.data} onClose={onClose} />;
  return (
    <Dialog
      open
      size="small"
      title={`Rotate token ${token.name}`}
      onClose={onClose}
      onSubmit={() => rotate.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={rotate.isPending}>
            Rotate token
          </Button>
        </>
      }
    >
      {rotate.error !== null && <Notice tone="failed">{messageOf(rotate.error)}</Notice>}
      <FormLayout>
        <FormField label="The old text ends" hint="The new one is valid at once, and as long as the old one was.">
          <Select value={hours} onChange={setHours} options={OVERLAPS} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}
