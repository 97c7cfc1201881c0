import { fetchData } from "../../api/client.ts";
import { projectList, serviceAccountList, userList } from "../../api/operations.gen.ts";
import type { May } from "../../api/permissions.ts";
import type { Filter, FilterValues } from "../../components/filter-bar.tsx";
import { LookupEditor, type LookupSource } from "../../components/lookup-editor.tsx";
import { RangeEditor } from "../../components/time-range/range-editor.tsx";
import { describeRange } from "../../components/time-range/time-range.ts";
import { readActor, readResource } from "./audit-request.ts";
import { AUDIT_LISTS, type AuditSearch } from "./audit-search.ts";
import { ACTIONS, KINDS, RESOURCE_TYPES, sentenceOf } from "./audit-words.ts";

const FOUND = 20;

/** `may` is that of the account, whose users and projects the filters find. */
export function auditFilters(may: May, isOfProject: boolean): readonly Filter[] {
  const filters: readonly Filter[] = [
    {
      key: "when",
      label: "Time",
      describe: describeRange,
      editor: (props) => <RangeEditor {...props} />,
    },
    {
      key: "actor",
      label: "Who",
      describe: describeActor,
      editor: (props) => <LookupEditor source={actorsFor(may)} {...props} />,
    },
    { key: "action", label: "Action", options: ACTIONS.map(optionOf), describe: sentenceOf },
    { key: "resource", label: "Resource", options: RESOURCE_TYPES.map(optionOf), describe: describeResource },
    {
      key: "outcome",
      label: "Outcome",
      options: [
        { value: "SUCCESS", label: "Success" },
        { value: "REFUSED", label: "Refused" },
      ],
    },
  ];
  if (isOfProject) return filters;
  return [
    ...filters,
    {
      key: "scope",
      label: "Scope",
      ...(may(projectList) && { editor: (props) => <LookupEditor source={SCOPES} {...props} /> }),
    },
  ];
}

const optionOf = (value: string) => ({ value, label: sentenceOf(value) });

function describeActor(value: string): string {
  const { type, identifier } = readActor(value);
  return type === "USER" ? identifier : `${KINDS[type].label} ${identifier}`;
}

function describeResource(value: string): string {
  const { type, identifier } = readResource(value);
  return identifier === undefined ? sentenceOf(type) : `${sentenceOf(type)} ${identifier}`;
}

const actorsFor = (may: May): LookupSource => ({
  key: ["actor"],
  label: "Who",
  isMultiple: true,
  describe: describeActor,
  search: async (text, signal) => {
    const term = text === "" ? {} : { searchTerm: text };
    const [users, accounts] = await Promise.all([
      may(userList) ? fetchData(userList, { query: { pageSize: FOUND, ...term } }, { signal }) : undefined,
      may(serviceAccountList) ? fetchData(serviceAccountList, { query: term }, { signal }) : undefined,
    ]);
    return [
      ...(users?.content ?? []).map(({ name, email }) => ({ value: email, label: name, hint: email })),
      ...(accounts ?? []).slice(0, FOUND).map(({ identifier, name }) => ({
        value: `SERVICE_ACCOUNT:${identifier}`,
        label: name,
        hint: `Service account ${identifier}`,
      })),
    ];
  },
});

const SCOPES: LookupSource = {
  key: ["scope"],
  label: "Scope",
  isMultiple: true,
  search: async (text, signal) => {
    const query = { pageSize: FOUND, ...(text !== "" && { searchTerm: text }) };
    const { content } = await fetchData(projectList, { query }, { signal });
    const organizations = [...new Set(content.map(({ project }) => project.orgIdentifier))];
    return [
      ...organizations.map((org) => ({ value: org, label: org, hint: "Organization with its projects" })),
      ...content.map(({ project: { orgIdentifier: org, identifier, name } }) => ({
        value: `${org}/${identifier}`,
        label: name,
        hint: `${org}/${identifier}`,
      })),
    ];
  },
};

export function valuesOf({ when, ...search }: AuditSearch): FilterValues {
  return {
    ...Object.fromEntries(AUDIT_LISTS.flatMap((key) => (search[key] ? [[key, search[key]]] : []))),
    ...(when !== undefined && { when: [when] }),
  };
}

export function searchOf({ when, ...values }: FilterValues, q: string | undefined): AuditSearch {
  return {
    ...(q !== undefined && q !== "" && { q }),
    ...Object.fromEntries(AUDIT_LISTS.flatMap((key) => (values[key] ? [[key, values[key]]] : []))),
    ...(when?.[0] !== undefined && { when: when[0] }),
  };
}
