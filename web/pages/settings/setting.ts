import type { Setting } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";

export type Level = "account" | "organization" | "project";

export const levelOf = ({ orgIdentifier, projectIdentifier }: Scope): Level =>
  projectIdentifier !== undefined ? "project" : orgIdentifier !== undefined ? "organization" : "account";

/** In the order of the page. Groups that this version does not know follow. */
const GROUPS: Readonly<Record<string, { readonly title: string; readonly description: string }>> = {
  concurrency: { title: "Executions at the same time", description: "Further executions wait in a queue." },
  triggers: { title: "Triggers", description: "Webhooks, and the events that wait to be processed." },
  retention: { title: "Retention", description: "How long executions, logs and webhook events are kept." },
  audit: { title: "Audit trail", description: "How long its entries are kept." },
  delegates: { title: "Delegates", description: "Who may register." },
  limits: { title: "Request limits", description: "Beyond a limit, requests are answered with status 429." },
};

export type SettingGroup = {
  readonly id: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly settings: readonly Setting[];
};

/** The settings by group. Those of SCIM have a page of their own. */
export function groupsOf(settings: readonly Setting[]): readonly SettingGroup[] {
  const known = Object.keys(GROUPS);
  const found = [...new Set(settings.map(({ groupIdentifier }) => groupIdentifier))].filter((id) => id !== "scim");
  const rank = (id: string): number => (known.includes(id) ? known.indexOf(id) : known.length);
  return found
    .toSorted((one, other) => rank(one) - rank(other))
    .map((id) => ({
      id,
      title: GROUPS[id]?.title ?? id.charAt(0).toUpperCase() + id.slice(1),
      description: GROUPS[id]?.description,
      settings: settings.filter(({ groupIdentifier }) => groupIdentifier === id),
    }));
}

const SOURCES = { DEFAULT: undefined, ACCOUNT: "account", ORG: "organization", PROJECT: "project" } as const;

/** The level whose value counts; undefined for the default. */
export const sourceOf = ({ settingSource }: Setting): Level | undefined => SOURCES[settingSource];

/** Where the value comes from, as the page of `level` says it. */
export function originOf(setting: Setting, level: Level): string {
  const source = sourceOf(setting);
  if (source === undefined) return "Default";
  if (source === level) return "Set here";
  return source === "account" ? "Set for the account" : "Set for the organization";
}

/** The levels below this one that may have a value of their own. */
export const levelsBelow = ({ allowedScopes }: Setting, level: Level): readonly Level[] =>
  level === "project"
    ? []
    : allowedScopes.filter((one) => one === "project" || (one === "organization" && level === "account"));

/** `Days that …; 0 keeps them for ever` has its hint after the semicolon. */
export function wordsOf({ name }: Setting): { readonly label: string; readonly hint: string | undefined } {
  const [label = name, ...hints] = name.split("; ");
  if (hints.length === 0) return { label, hint: undefined };
  const hint = hints.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join(". ");
  return { label, hint: `${hint}.` };
}

export function shownValue({ valueType }: Setting, value: string): string {
  if (valueType === "Boolean") return value === "true" ? "Yes" : "No";
  if (valueType === "Number" && value !== "") return Number(value).toLocaleString("en-GB");
  return value === "" ? "None" : value;
}
