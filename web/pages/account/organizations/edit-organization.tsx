import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import {
  organizationCreate,
  organizationList,
  organizationUpdate,
  type OrganizationData,
} from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { identifierFor } from "../../../util/identifier.ts";

type EditOrganizationProps = { readonly former: OrganizationData | undefined; readonly onClose: () => void };

/** Creates an organization, or changes the former one. */
export function EditOrganization({ former, onClose }: EditOrganizationProps) {
  const [name, setName] = useState(former?.organization.name ?? "");
  const [typedIdentifier, setTypedIdentifier] = useState<string>();
  const [description, setDescription] = useState(former?.organization.description ?? "");
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = former?.organization.identifier ?? typedIdentifier ?? identifierFor(name);
  const save = useMutation({
    mutationFn: () => {
      const body = { organization: { ...former?.organization, name: name.trim(), identifier, description } };
      return former
        ? fetchData(organizationUpdate, { path: { identifier }, body })
        : fetchData(organizationCreate, { body });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [organizationList.id] });
      show({ tone: "success", message: `Organization ${name.trim()} was ${former ? "saved" : "created"}.` });
      onClose();
    },
  });
  return (
    <Dialog
      open
      title={former ? `Edit ${former.organization.name}` : "New organization"}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            {former ? "Save" : "Create organization"}
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <FormLayout>
        <FormField label="Name" required>
          <TextField value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        {!former && (
          <FormField label="Identifier" required hint="Used in YAML, addresses and scripts. It cannot be changed.">
            <TextField mono value={identifier} onChange={(event) => setTypedIdentifier(event.target.value)} />
          </FormField>
        )}
        <FormField label="Description" optional>
          <TextArea rows={3} value={description} onChange={(event) => setDescription(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}
