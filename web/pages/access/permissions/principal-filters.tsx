import type { Scope } from "../../../api/permissions.ts";
import { FilterBar, type Filter, type FilterValues } from "../../../components/filter-bar.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import type { AccessSearch } from "../access-search.ts";
import { PRINCIPAL_TYPE_NAMES } from "../shared/names.ts";
import { PermissionPicker } from "./permission-picker.tsx";
import { usePermissionOptions } from "./use-permission-options.ts";

type PrincipalFiltersProps = {
  readonly scope: Scope;
  readonly search: AccessSearch;
  readonly onChange: (filters: AccessSearch) => void;
};

const KEYS = ["permission", "resource", "type"] as const;
const KINDS = PRINCIPAL_TYPE_NAMES.map(([value, label]) => ({ value, label }));

/** A permission, a resource that it is about, and the kind of principal. */
export function PrincipalFilters({ scope, search, onChange }: PrincipalFiltersProps) {
  const options = usePermissionOptions(scope);
  const values: FilterValues = Object.fromEntries(KEYS.flatMap((key) => (search[key] ? [[key, [search[key]]]] : [])));
  const permission: Filter = {
    key: "permission",
    label: "May",
    describe: (value) => options?.find((option) => option.value === value)?.label ?? value,
    editor: ({ values: [value = ""], onChange: change }) => (
      <PermissionPicker
        label="Permission"
        scope={scope}
        value={value}
        onChange={(next) => change(next === "" ? [] : [next])}
      />
    ),
  };
  const resource: Filter = { key: "resource", label: "On the resource with the identifier" };
  const kind: Filter = {
    key: "type",
    label: "Kind",
    describe: (value) => KINDS.find((one) => one.value === value)?.label ?? value,
    editor: ({ values: [value], onChange: change }) => (
      <RadioGroup
        label="Kind"
        options={KINDS}
        value={KINDS.find((one) => one.value === value)?.value}
        onChange={(next) => change([next])}
      />
    ),
  };
  return (
    <FilterBar
      values={values}
      // A resource means something only together with a permission.
      filters={search.permission === undefined ? [permission, kind] : [permission, resource, kind]}
      onChange={(next) => {
        const texts = KEYS.flatMap((key) => (next[key]?.[0] === undefined ? [] : [[key, next[key][0]]]));
        onChange(Object.fromEntries(texts) as AccessSearch);
      }}
    />
  );
}
