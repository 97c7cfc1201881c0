import type { Json } from "../../engine/index.ts";
import type { ValueField } from "../value-field.ts";
import type { EmailSpec } from "./schema.ts";

/** The texts whose expressions are evaluated when the step begins. */
export const valueFields = (spec: EmailSpec): readonly ValueField[] =>
  (["subject", "to", "toUserGroups", "cc", "ccUserGroups", "body"] as const).flatMap((name): readonly ValueField[] => {
    const value = spec[name];
    if (typeof value === "string") return [{ kind: "text", path: [name], value }];
    return (value ?? []).map((one, index) => ({ kind: "text", path: [name, index], value: one }));
  });

/** Fields that are undefined are left out. */
export const shown = (spec: EmailSpec): { readonly [key: string]: Json } =>
  JSON.parse(JSON.stringify(spec)) as { readonly [key: string]: Json };
