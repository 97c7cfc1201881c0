import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { environmentList, pipelineList, serviceList, userList } from "../../../api/operations.gen.ts";
import type { May, Scope } from "../../../api/permissions.ts";
import type { Filter, FilterEditorProps } from "../../../components/filter-bar.tsx";
import { Combobox, type ComboboxOption } from "../../../ui/combobox.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import styles from "./pickers.module.css";

const SIZE = 20;

type Source = {
  readonly key: string;
  readonly label: string;
  readonly isMultiple: boolean;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly ComboboxOption[]>;
};

/** Filters whose values are looked up. Those that the user may not list take identifiers as text. */
export function pickerFilters(scope: Required<Scope>, may: May): readonly Filter[] {
  const sources: readonly (Source & { readonly isPermitted: boolean })[] = [
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
  ];
  return sources.map(({ isPermitted, ...source }) => ({
    key: source.key,
    label: source.label,
    ...(isPermitted && { editor: (props: FilterEditorProps) => <Picker source={source} scope={scope} {...props} /> }),
  }));
}

const term = (searchTerm: string) => (searchTerm === "" ? {} : { searchTerm });

function Picker({
  source,
  scope,
  values,
  onChange,
}: FilterEditorProps & { readonly source: Source; readonly scope: Required<Scope> }) {
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const { data } = useQuery({
    queryKey: ["picker", source.key, scope, searched],
    queryFn: ({ signal }) => source.search(searched, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.picker}>
      <Combobox
        label={source.label}
        value={source.isMultiple ? "" : (values[0] ?? "")}
        placeholder={`Search ${source.label.toLowerCase()}`}
        options={data}
        onSearch={setText}
        allowsOther
        onChange={(value) => {
          if (value === "") onChange(source.isMultiple ? values : []);
          else onChange(source.isMultiple ? [...new Set([...values, value])] : [value]);
        }}
      />
      {source.isMultiple && values.length > 0 && <TagList tags={values} />}
    </div>
  );
}
