import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import {
  roleAssignmentCreate,
  roleCreate,
  roleList,
  serviceAccountCreate,
  serviceAccountList,
} from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code-block.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import styles from "./scim-page.module.css";

const ROLE = "scim_provisioning";
const PERMISSIONS = [
  "core_user_view",
  "core_user_invite",
  "core_user_manage",
  "core_usergroup_view",
  "core_usergroup_manage",
];

type CreateServiceAccountProps = {
  readonly onClose: () => void;
  readonly onCreated: (identifier: string) => void;
};

/** Creates the service account, the role if it is missing, and gives it the role over everything. */
export function CreateServiceAccount({ onClose, onCreated }: CreateServiceAccountProps) {
  const [identifier, setIdentifier] = useState("directory");
  const queryClient = useQueryClient();
  const show = useToast();
  const create = useMutation({
    mutationFn: () => provide(identifier.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [serviceAccountList.id] });
      show({
        tone: "success",
        message: `Service account ${identifier.trim()} was created. Save the settings to use it.`,
      });
      onCreated(identifier.trim());
    },
  });
  return (
    <Dialog
      open
      title="Create a service account for the directory"
      onClose={onClose}
      onSubmit={() => create.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create service account
          </Button>
        </>
      }
    >
      <FormLayout>
        {create.error !== null && <Notice tone="failed">{messageOf(create.error)}</Notice>}
        <FormField label="Identifier" required>
          <TextField mono value={identifier} onChange={(event) => setIdentifier(event.target.value)} />
        </FormField>
        <div>
          <p>
            It gets the role <Code>{ROLE}</Code> over all resources of the account, with these permissions:
          </p>
          <ul className={styles.permissions}>
            {PERMISSIONS.map((permission) => (
              <li key={permission}>
                <Code>{permission}</Code>
              </li>
            ))}
          </ul>
        </div>
      </FormLayout>
    </Dialog>
  );
}

/** Steps that were done before a failure are left out when it is tried again. */
async function provide(identifier: string): Promise<void> {
  if (!(await hasRole()))
    await fetchData(roleCreate, {
      body: { identifier: ROLE, name: "SCIM provisioning", permissions: PERMISSIONS, allowedScopeLevels: ["account"] },
    });
  const existing = await fetchData(serviceAccountList, { query: { identifiers: identifier } });
  if (existing.length === 0) await fetchData(serviceAccountCreate, { body: { identifier, name: "Directory" } });
  await fetchData(roleAssignmentCreate, {
    body: {
      roleIdentifier: ROLE,
      resourceGroupIdentifier: "_all_resources_including_child_scopes",
      principal: { type: "SERVICE_ACCOUNT", identifier },
    },
  });
}

async function hasRole(): Promise<boolean> {
  const { content } = await fetchData(roleList, { query: { searchTerm: ROLE, pageSize: 100 } });
  return content.some(({ role }) => role.identifier === ROLE);
}
