import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combobox, type ComboboxOption } from "../ui/combobox.tsx";
import { TagList } from "../ui/tag.tsx";
import { useDebounced } from "../util/use-debounced.ts";
import type { FilterEditorProps } from "./filter-bar.tsx";
import styles from "./lookup-editor.module.css";

export type LookupSource = {
  /** Names what is looked up, with its scope. */
  readonly key: readonly string[];
  readonly label: string;
  readonly isMultiple: boolean;
  /** What the list of selected values says of one. Default: the value. */
  readonly describe?: (value: string) => string;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly ComboboxOption[]>;
};

/** A filter whose values are looked up by name. Others may be typed. */
export function LookupEditor({ source, values, onChange }: FilterEditorProps & { readonly source: LookupSource }) {
  const { label, isMultiple, key, describe, search } = source;
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const { data } = useQuery({
    queryKey: ["lookup", ...key, searched],
    queryFn: ({ signal }) => search(searched, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.picker}>
      <Combobox
        label={label}
        value={isMultiple ? "" : (values[0] ?? "")}
        placeholder={`Search ${label.toLowerCase()}`}
        options={data}
        onSearch={setText}
        allowsOther
        onChange={(value) => {
          if (value === "") onChange(isMultiple ? values : []);
          else onChange(isMultiple ? [...new Set([...values, value])] : [value]);
        }}
      />
      {isMultiple && values.length > 0 && (
        <TagList tags={describe === undefined ? values : values.map((value) => describe(value))} />
      )}
    </div>
  );
}
