import type { Scope } from "../../../api/permissions.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { usePermissionOptions } from "./use-permission-options.ts";

type PermissionPickerProps = {
  /** Only without a FormField around it. */
  readonly label?: string | undefined;
  readonly scope: Scope;
  readonly value: string;
  readonly onChange: (permission: string) => void;
};

export function PermissionPicker({ label, scope, value, onChange }: PermissionPickerProps) {
  return (
    <Combobox
      label={label}
      placeholder="Search permissions, such as Pipelines: execute"
      value={value}
      options={usePermissionOptions(scope)}
      onChange={onChange}
    />
  );
}
