import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { serviceAccountAggregate, userGet, userGroupGet } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import { parseAccessSearch, type AccessSearch } from "../access-search.ts";
import type { Principal } from "../assignments/principal.ts";
import { RoleAssignments } from "../assignments/role-assignments.tsx";
import { levelOf, scopeAt } from "../shared/levels.ts";
import { PRINCIPAL_TYPES } from "../shared/names.ts";
import styles from "../shared/panel.module.css";
import { Explanation } from "./explanation.tsx";
import { PermissionPicker } from "./permission-picker.tsx";

type ExplanationPanelProps = {
  readonly principal: Principal;
  /** Undefined if the list does not have it, as with users that only their groups give roles. */
  readonly name: string | undefined;
  readonly scope: Scope;
  readonly search: AccessSearch;
  readonly onClose: () => void;
};

/** What one principal may do in the scope, and why. The question is in the address. */
export function ExplanationPanel({ principal, name: listed, scope, search, onClose }: ExplanationPanelProps) {
  const found = useName(principal, scope, listed === undefined);
  const name = listed ?? found ?? principal.identifier;
  const navigate = useNavigate();
  const [resource, setResource] = useState(search.resource ?? "");
  const asked = useDebounced(resource.trim(), 300);
  return (
    <Dialog open placement="side" title={<Name>{name}</Name>} onClose={onClose}>
      <div className={styles.panel}>
        <KeyValues
          items={[
            { key: "Kind", value: PRINCIPAL_TYPES[principal.type] },
            { key: "Belongs to", value: principal.type === "USER" ? undefined : `the ${principal.scopeLevel}` },
            { key: "Identifier", value: <code>{principal.identifier}</code> },
          ]}
        />
        <FormLayout>
          <FormField
            label={`May ${PRINCIPAL_TYPES[principal.type].toLowerCase()} ${name} do this in the ${levelOf(scope)}?`}
          >
            <PermissionPicker
              scope={scope}
              value={search.permission ?? ""}
              onChange={(permission) =>
                void navigate({ to: ".", search: parseAccessSearch({ ...search, permission }), replace: true })
              }
            />
          </FormField>
          {search.permission !== undefined && (
            <FormField label="On the resource" optional hint="Its identifier. Empty: on all resources of the type.">
              <TextField mono value={resource} onChange={(event) => setResource(event.target.value)} />
            </FormField>
          )}
        </FormLayout>
        {search.permission !== undefined && (
          <Explanation principal={principal} scope={scope} permission={search.permission} resource={asked} />
        )}
        <RoleAssignments scope={scope} principal={principal} name={name} />
      </div>
    </Dialog>
  );
}

/** The name of a principal that the list does not have. */
function useName({ type, identifier, scopeLevel }: Principal, scope: Scope, isWanted: boolean): string | undefined {
  const at = scopeAt(scopeLevel, scope);
  const user = useQuery({
    ...dataQuery(userGet, { path: { userId: identifier } }),
    enabled: isWanted && type === "USER",
  });
  const group = useQuery({
    ...dataQuery(userGroupGet, { path: { identifier }, query: at }),
    enabled: isWanted && type === "USER_GROUP",
  });
  const account = useQuery({
    ...dataQuery(serviceAccountAggregate, { path: { identifier }, query: at }),
    enabled: isWanted && type === "SERVICE_ACCOUNT",
  });
  return user.data?.name ?? group.data?.name ?? account.data?.serviceAccount.name;
}
