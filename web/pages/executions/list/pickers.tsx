import { fetchData } from "../../../api/client.ts";
import { environmentList, pipelineList, serviceList, triggerList, userList } from "../../../api/operations.gen.ts";
import type { May, Scope } from "../../../api/permissions.ts";
import type { Filter, FilterEditorProps } from "../../../components/filter-bar.tsx";
import type { ComboboxOption } from "../../../ui/combobox.tsx";
import { LookupEditor, type LookupSource } from "../../../components/lookup-editor.tsx";

const SIZE = 20;

/** Filters whose values are looked up. Those that the user may not list take identifiers as text. */
export function pickerFilters(scope: Required<Scope>, may: May): readonly Filter[] {
  const sources: readonly (Omit<LookupSource, "key"> & { readonly key: string; readonly isPermitted: boolean })[] = [
    {
      key: "pipeline",
      label: "Pipeline",
      isMultiple: false,
      isPermitted: may(pipelineList),
      search: async (searchTerm, signal) =>
        (
          await fetchData(pipelineList, { query: { ...scope, size: SIZE, ...term(searchTerm) } }, { signal })
        ).content.map(({ identifier, name }) => ({ value: identifier, label: name, hint: identifier })),
    },
    {
      key: "person",
      label: "Started by",
      isMultiple: true,
      isPermitted: may(userList),
      search: async (searchTerm, signal) =>
        (await fetchData(userList, { query: { pageSize: SIZE, ...term(searchTerm) } }, { signal })).content.map(
          ({ uuid, name, email }) => ({ value: uuid, label: name, hint: email }),
        ),
    },
    {
      key: "environment",
      label: "Environment",
      isMultiple: true,
      isPermitted: may(environmentList),
      search: async (searchTerm, signal) =>
        (
          await fetchData(environmentList, { query: { ...scope, size: SIZE, ...term(searchTerm) } }, { signal })
        ).content.map(({ environment: { identifier, name } }) => ({
          value: identifier,
          label: name,
          hint: identifier,
        })),
    },
    {
      key: "service",
      label: "Service",
      isMultiple: true,
      isPermitted: may(serviceList),
      search: async (searchTerm, signal) =>
        (
          await fetchData(serviceList, { query: { ...scope, size: SIZE, ...term(searchTerm) } }, { signal })
        ).content.map(({ service: { identifier, name } }) => ({ value: identifier, label: name, hint: identifier })),
    },
    {
      key: "webhook",
      label: "Trigger",
      isMultiple: true,
      isPermitted: may(triggerList),
      search: async (searchTerm, signal) =>
        distinct(
          (
            await fetchData(triggerList, { query: { ...scope, size: SIZE, ...term(searchTerm) } }, { signal })
          ).content.map(({ identifier, name }) => ({ value: identifier, label: name, hint: identifier })),
        ),
    },
  ];
  return sources.map(({ isPermitted, key, ...source }) => {
    const lookup = { ...source, key: [key, scope.orgIdentifier, scope.projectIdentifier] };
    return {
      key,
      label: source.label,
      ...(isPermitted && { editor: (props: FilterEditorProps) => <LookupEditor source={lookup} {...props} /> }),
    };
  });
}

const term = (searchTerm: string) => (searchTerm === "" ? {} : { searchTerm });

/** Triggers of different pipelines may have the same identifier. */
const distinct = (options: readonly ComboboxOption[]): readonly ComboboxOption[] => [
  ...new Map(options.map((option) => [option.value, option])).values(),
];
