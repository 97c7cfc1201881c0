import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { roleAssignmentCreate } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import { PRINCIPAL_TYPE_NAMES, PRINCIPAL_TYPES, type PrincipalType } from "../shared/names.ts";
import { invalidateAssignments } from "./invalidate.ts";
import { mayAssign, parsePrincipalKey, type Principal } from "./principal.ts";
import { assignableRolesQuery, parseRoleKey, resourceGroupsQuery } from "./role-options.ts";
import { searchPrincipals } from "./search-principals.ts";

type AssignRoleProps = {
  readonly scope: Scope;
  /** Whom it is assigned to, if the page is about one principal. */
  readonly to: { readonly principal: Principal; readonly name: string } | undefined;
  readonly onClose: () => void;
};

export function AssignRole({ scope, to, onClose }: AssignRoleProps) {
  const [principalKey, setPrincipalKey] = useState("");
  const [role, setRole] = useState("");
  const [group, setGroup] = useState("");
  const roles = useQuery(assignableRolesQuery(scope));
  const groups = useQuery(resourceGroupsQuery(scope));
  const queryClient = useQueryClient();
  const show = useToast();
  const principal = to?.principal ?? parsePrincipalKey(principalKey);
  const assign = useMutation({
    mutationFn: (whom: Principal) => {
      const { identifier, scopeLevel } = parseRoleKey(role);
      const reference = scopeLevel === undefined ? {} : { roleReference: { identifier, scopeLevel } };
      const body = { resourceGroupIdentifier: group, roleIdentifier: identifier, ...reference, principal: whom };
      return fetchData(roleAssignmentCreate, { query: scope, body });
    },
    onSuccess: async () => {
      await invalidateAssignments(queryClient);
      show({ tone: "success", message: "The role was assigned. It counts within a second." });
      onClose();
    },
  });
  const error = assign.error ?? roles.error ?? groups.error;
  return (
    <Dialog
      open
      size="small"
      title={to ? `Assign a role to ${to.name}` : "Assign a role"}
      onClose={onClose}
      onSubmit={() => {
        if (principal && role !== "" && group !== "") assign.mutate(principal);
      }}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            variant="primary"
            disabled={principal === undefined || role === "" || group === ""}
            busy={assign.isPending}
          >
            Assign role
          </Button>
        </>
      }
    >
      {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
      <FormLayout>
        {to === undefined && <PrincipalFields scope={scope} value={principalKey} onChange={setPrincipalKey} />}
        <FormField label="Role" required hint="What it permits is on the page of roles.">
          <Select value={role} onChange={setRole} placeholder="Choose a role" options={roles.data ?? []} />
        </FormField>
        <FormField label="Over" required hint="The resource group says for which resources the role counts.">
          <Select value={group} onChange={setGroup} placeholder="Choose a resource group" options={groups.data ?? []} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

type PrincipalFieldsProps = {
  readonly scope: Scope;
  readonly value: string;
  readonly onChange: (key: string) => void;
};

function PrincipalFields({ scope, value, onChange }: PrincipalFieldsProps) {
  const may = useMay(scope);
  const types = PRINCIPAL_TYPE_NAMES.filter(([type]) => mayAssign(may, type));
  const [type, setType] = useState<PrincipalType>(types[0]?.[0] ?? "USER");
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const found = useQuery({
    queryKey: ["principals", type, scope, searched],
    queryFn: ({ signal }) => searchPrincipals(type, scope, searched, signal),
    placeholderData: keepPreviousData,
  });
  // The chosen one keeps its name while others are searched.
  const [label, setLabel] = useState("");
  return (
    <>
      <FormField label="Assign to a">
        <Select
          value={type}
          options={types.map(([one, name]) => ({ value: one, label: name.toLowerCase() }))}
          onChange={(next) => {
            setType(next);
            onChange("");
          }}
        />
      </FormField>
      <FormField label={PRINCIPAL_TYPES[type]} required error={found.error !== null && messageOf(found.error)}>
        <Combobox
          value={value}
          valueLabel={label}
          placeholder="Search by name"
          options={found.data}
          onSearch={setText}
          onChange={(key) => {
            setLabel(found.data?.find((option) => option.value === key)?.label ?? "");
            onChange(key);
          }}
        />
      </FormField>
    </>
  );
}
