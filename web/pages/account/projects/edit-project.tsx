import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import { organizationList, projectCreate, projectList, projectUpdate } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { identifierFor } from "../../../util/identifier.ts";
import type { ProjectRow } from "./project-row.ts";

type EditProjectProps = {
  readonly former: ProjectRow | undefined;
  /** The organization that a new project is proposed to be in. */
  readonly organization?: string | undefined;
  readonly onClose: () => void;
};

/** Creates a project and opens it, or changes the former one. */
export function EditProject({ former, organization: proposed = "default", onClose }: EditProjectProps) {
  const [name, setName] = useState(former?.project.name ?? "");
  const [typedIdentifier, setTypedIdentifier] = useState<string>();
  const [description, setDescription] = useState(former?.project.description ?? "");
  const [organization, setOrganization] = useState(former?.project.orgIdentifier ?? proposed);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const identifier = former?.project.identifier ?? typedIdentifier ?? identifierFor(name);
  const save = useMutation({
    mutationFn: () => {
      const query = { orgIdentifier: organization };
      const project = { ...former?.project, name: name.trim(), identifier, description, orgIdentifier: organization };
      return former
        ? fetchData(projectUpdate, { path: { identifier }, query, body: { project } })
        : fetchData(projectCreate, { query, body: { project } });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [projectList.id] });
      onClose();
      if (!former)
        await navigate({ to: "/projects/$org/$project", params: { org: organization, project: identifier } });
    },
  });
  return (
    <Dialog
      open
      title={former ? `Edit ${former.project.name}` : "New project"}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            {former ? "Save" : "Create project"}
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
        {!former && <OrganizationField value={organization} onChange={setOrganization} />}
        <FormField label="Description" optional>
          <TextArea rows={3} value={description} onChange={(event) => setDescription(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

type OrganizationFieldProps = { readonly value: string; readonly onChange: (identifier: string) => void };

/** Absent where there is nothing to choose from. */
function OrganizationField({ value, onChange }: OrganizationFieldProps) {
  const { data } = useQuery(dataQuery(organizationList, { query: { pageSize: 100 } }));
  const options = (data?.content ?? []).map(({ organization: { identifier, name } }) => ({
    value: identifier,
    label: name,
  }));
  if (options.length <= 1) return null;
  return (
    <FormField label="Organization">
      <Select value={value} onChange={onChange} options={options} />
    </FormField>
  );
}
