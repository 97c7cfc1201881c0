import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dataQuery } from "../api/client.ts";
import { pipelineList } from "../api/operations.gen.ts";
import { useProjectScope } from "../routes/scope.ts";
import { Combobox } from "../ui/combobox.tsx";
import { useDebounced } from "../util/use-debounced.ts";

const SIZE = 20;

type PipelinePickerProps = {
  /** Only without a FormField around it. */
  readonly label?: string;
  /** An identifier; empty if none is chosen. */
  readonly value: string;
  readonly onChange: (identifier: string) => void;
};

/** Chooses a pipeline of the project by a part of its name. */
export function PipelinePicker({ label, value, onChange }: PipelinePickerProps) {
  const scope = useProjectScope();
  const [text, setText] = useState("");
  const searchTerm = useDebounced(text.trim(), 200);
  const query = { ...scope, size: SIZE, ...(searchTerm === "" ? {} : { searchTerm }) };
  const { data } = useQuery({ ...dataQuery(pipelineList, { query }), placeholderData: keepPreviousData });
  return (
    <Combobox
      label={label}
      value={value}
      placeholder="Search pipelines"
      emptyText="No pipeline matches."
      options={data?.content.map(({ identifier, name }) => ({ value: identifier, label: name, hint: identifier }))}
      onSearch={setText}
      onChange={onChange}
    />
  );
}
