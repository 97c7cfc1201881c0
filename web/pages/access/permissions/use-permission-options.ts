import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../../api/client.ts";
import { permissionList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { ComboboxOption } from "../../../ui/combobox.tsx";
import { actionName, typeName } from "../shared/names.ts";

/** The permissions that can be held in the scope. Undefined while they are being loaded. */
export function usePermissionOptions(scope: Scope): readonly ComboboxOption[] | undefined {
  const { data } = useQuery(dataQuery(permissionList, { query: scope }));
  return data?.map(({ permission: { identifier, resourceType, action } }) => ({
    value: identifier,
    label: `${typeName(resourceType)}: ${actionName(action)}`,
    hint: identifier,
  }));
}
