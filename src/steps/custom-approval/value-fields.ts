import type { Json } from "../../engine/index.ts";
import { shown as scriptShown, valueFields as scriptFields } from "../shell-script/value-fields.ts";
import type { ValueField } from "../value-field.ts";
import { criteriaFields, type CriteriaSpec } from "./criteria.ts";
import { scriptOf } from "./plan.ts";
import type { CustomApprovalSpec } from "./schema.ts";

export const valueFields = (spec: CustomApprovalSpec): readonly ValueField[] => [
  ...scriptFields(scriptOf(spec)),
  ...(["approvalCriteria", "rejectionCriteria"] as const).flatMap((field) =>
    spec[field] ? criteriaFields(field, spec[field] as CriteriaSpec) : [],
  ),
];

export const shown = ({
  retryInterval,
  scriptTimeout,
  ...spec
}: CustomApprovalSpec): { readonly [key: string]: Json } => ({
  ...scriptShown(scriptOf(spec as CustomApprovalSpec)),
  ...{ retryInterval, scriptTimeout },
});
