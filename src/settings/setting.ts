/** A setting: what may be set, where, and to what. A further one is a row of `catalogue.ts`. */
export type Level = "account" | "organization" | "project";

export type ValueType = "String" | "Number" | "Boolean";

export type Definition = {
  readonly identifier: string;
  readonly name: string;
  readonly category: "CORE" | "PMS";
  readonly group: string;
  readonly type: ValueType;
  readonly defaultValue: string;
  /** Where it may be set; from there it is inherited downwards. */
  readonly levels: readonly Level[];
  readonly allowedValues?: readonly string[];
  /** What is wrong with a value of the right type; undefined when nothing is. */
  readonly fault?: (value: string) => string | undefined;
};

/** A place that has settings of its own. */
export type SettingScope = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

export const levelOf = ({ orgIdentifier, projectIdentifier }: SettingScope): Level =>
  projectIdentifier === null ? (orgIdentifier === null ? "account" : "organization") : "project";

/** What was set at one scope. */
export type Stored = SettingScope & {
  readonly identifier: string;
  readonly value: string;
  readonly allowOverrides: boolean;
  readonly updatedAt: number;
};

/** What counts at a scope, and where it comes from. */
export type Effective = {
  readonly definition: Definition;
  readonly value: string;
  readonly source: "DEFAULT" | "ACCOUNT" | "ORG" | "PROJECT";
  readonly allowOverrides: boolean;
  /** False where a parent does not allow it, or the setting does not live at this level. */
  readonly editable: boolean;
  readonly updatedAt: number | null;
};

const SOURCES = { account: "ACCOUNT", organization: "ORG", project: "PROJECT" } as const;

/**
 * `rows` are those of the scope and its parents. The nearest one counts, but none below a parent that does not
 * allow overrides: a value that was set there before is kept and comes back once the parent allows it again.
 */
export function effective(definition: Definition, scope: SettingScope, rows: readonly Stored[]): Effective {
  const level = levelOf(scope);
  const found = { value: definition.defaultValue, source: "DEFAULT", allowOverrides: true, updatedAt: null } as const;
  let result: Omit<Effective, "definition" | "editable"> = found;
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
 * A value as it was sent, as the text that is kept. What is no text is wrong for this setting, not for the request;
 * numbers and truth values stand for themselves where the setting is one, nothing stands for the empty text.
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
