import type { Json } from "../../engine/index.ts";
import type { ValueField } from "../value-field.ts";
import type { PlatformApprovalSpec } from "./schema.ts";

/** The texts whose expressions are evaluated when the step begins. */
export function valueFields(spec: PlatformApprovalSpec): readonly ValueField[] {
  const { approvers, approverInputs, approvalMessage, autoApproval, callbackId } = spec;
  const lists = (["userGroups", "serviceAccounts", "disallowedUserEmails"] as const).flatMap((list) =>
    (approvers[list] ?? []).map((value, index) => field(["approvers", list, index], value)),
  );
  const defaults = (approverInputs ?? []).map(({ defaultValue }, index) =>
    field(["approverInputs", index, "defaultValue"], defaultValue ?? null),
  );
  return [
    field(["approvalMessage"], approvalMessage ?? null),
    ...lists,
    ...defaults,
    field(["autoApproval", "comments"], autoApproval?.comments ?? null),
    field(["callbackId"], callbackId ?? null),
  ].filter(({ value }) => value !== null);
}

const field = (path: readonly (string | number)[], value: ValueField["value"]): ValueField => ({
  kind: "text",
  path: [...path],
  value,
});

/** Fields that are undefined are left out. */
export const shown = (spec: PlatformApprovalSpec): { readonly [key: string]: Json } =>
  JSON.parse(JSON.stringify(spec)) as { readonly [key: string]: Json };
