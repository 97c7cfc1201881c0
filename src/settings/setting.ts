/** Definition and value of a setting. A new setting is an entry of `catalogue.ts`. */
export type Level = "account" | "organization" | "project";

export type ValueType = "String" | "Number" | "Boolean";

export type Definition = {
  readonly identifier: string;
  readonly name: string;
  readonly category: "CORE" | "PMS";
  readonly group: string;
  readonly type: ValueType;
  readonly defaultValue: string;
  /** The levels at which it can be set. Lower levels inherit the value. */
  readonly levels: readonly Level[];
  readonly allowedValues?: readonly string[];
  /** Returns the fault of a value of the right type; undefined for a valid value. */
  readonly fault?: (value: string) => string | undefined;
};

/** A scope with its own settings. */
export type SettingScope = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

export const levelOf = ({ orgIdentifier, projectIdentifier }: SettingScope): Level =>
  projectIdentifier === null ? (orgIdentifier === null ? "account" : "organization") : "project";

/** A value that is set at one scope. */
export type StoredSetting = SettingScope & {
  readonly identifier: string;
  readonly value: string;
  readonly allowOverrides: boolean;
  readonly updatedAt: number;
};

/** The effective value at a scope, and its source. */
export type EffectiveSetting = {
  readonly definition: Definition;
  readonly value: string;
  readonly source: "DEFAULT" | "ACCOUNT" | "ORG" | "PROJECT";
  readonly allowOverrides: boolean;
  /** False if a parent does not allow overrides, or if the setting cannot be set at this level. */
  readonly editable: boolean;
  readonly updatedAt: number | null;
};

const SOURCES = { account: "ACCOUNT", organization: "ORG", project: "PROJECT" } as const;

/**
 * Computes the effective value. `rows` are the values of the scope and its parents. The nearest value applies, but none
 * below a parent that does not allow overrides. Such a value stays stored, and applies again when the parent allows it.
 */
export function effectiveSetting(
  definition: Definition,
  scope: SettingScope,
  rows: readonly StoredSetting[],
): EffectiveSetting {
  const level = levelOf(scope);
  const found = { value: definition.defaultValue, source: "DEFAULT", allowOverrides: true, updatedAt: null } as const;
  let result: Omit<EffectiveSetting, "definition" | "editable"> = found;
  let blocked = false;
  for (const at of ["account", "organization", "project"] as const) {
    const row = rows.find((one) => one.identifier === definition.identifier && levelOf(one) === at);
    if (row && !blocked)
      result = { value: row.value, source: SOURCES[at], allowOverrides: row.allowOverrides, updatedAt: row.updatedAt };
    if (at === level) break;
    if (row && !row.allowOverrides) blocked = true;
  }
  return { definition, ...result, editable: !blocked && definition.levels.includes(level) };
}

/**
 * Converts the value of a request to the stored text. A wrong type is a fault of this setting, not of the request.
 * Numbers and booleans are accepted for settings of their type; null and a missing value are the empty text.
 */
export function readValue(
  definition: Definition,
  sent: unknown,
): { readonly value: string } | { readonly fault: string } {
  const value = textOf(definition, sent);
  if (value === undefined) return { fault: `must be a ${NOUNS[definition.type]}` };
  const fault = valueFault(definition, value);
  return fault === undefined ? { value } : { fault };
}

const NOUNS = { String: "text; write it in quotes", Number: "number", Boolean: "truth value" } as const;

function textOf({ type }: Definition, sent: unknown): string | undefined {
  if (typeof sent === "string") return sent;
  if (sent === null || sent === undefined) return "";
  const stands = (type === "Number" && typeof sent === "number") || (type === "Boolean" && typeof sent === "boolean");
  return stands ? JSON.stringify(sent) : undefined;
}

function valueFault(definition: Definition, value: string): string | undefined {
  if (value.length > MAX_VALUE) return `is longer than ${MAX_VALUE} characters`;
  if (definition.type === "Boolean" && value !== "true" && value !== "false") return "must be true or false";
  if (definition.type === "Number" && !/^\d{1,9}$/.test(value)) return "must be a whole number from 0 to 999999999";
  if (definition.allowedValues && !definition.allowedValues.includes(value))
    return `must be one of ${definition.allowedValues.join(", ")}`;
  return definition.fault?.(value);
}

const MAX_VALUE = 2_048;
