import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { userGet } from "../../../api/operations.gen.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { SegmentedControl } from "../../../ui/radio-group.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import { parsePrincipalKey } from "../assignments/principal.ts";
import { searchPrincipals } from "../assignments/search-principals.ts";
import type { OwnershipSearch } from "./ownership-search.ts";

type PrincipalPickerProps = {
  readonly search: OwnershipSearch;
  readonly onChange: (search: OwnershipSearch) => void;
};

const TYPES = [
  { value: "USER", label: "User" },
  { value: "SERVICE_ACCOUNT", label: "Service account" },
] as const;
type Type = (typeof TYPES)[number]["value"];

/** A user, or a service account of the account. Those of projects have links to this page. */
export function PrincipalPicker({ search, onChange }: PrincipalPickerProps) {
  const chosen = parsePrincipalKey(search.principal ?? "");
  const [type, setType] = useState<Type>(chosen?.type === "SERVICE_ACCOUNT" ? "SERVICE_ACCOUNT" : "USER");
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const found = useQuery({
    queryKey: ["principals", type, {}, searched],
    queryFn: ({ signal }) => searchPrincipals(type, {}, searched, signal),
    placeholderData: keepPreviousData,
  });
  const user = useQuery({
    ...dataQuery(userGet, { path: { userId: chosen?.identifier ?? "" } }),
    enabled: chosen?.type === "USER",
  });
  const isShown = chosen?.type === type;
  return (
    <FormLayout>
      <div>
        <SegmentedControl<Type> label="Kind" options={TYPES} value={type} onChange={setType} />
      </div>
      <FormField label={type === "USER" ? "User" : "Service account"}>
        <Combobox
          key={type}
          value={isShown ? (search.principal ?? "") : ""}
          valueLabel={type === "USER" ? user.data?.name : chosen?.identifier}
          placeholder="Search by name"
          options={found.data}
          onSearch={setText}
          onChange={(principal) => onChange(principal === "" ? {} : { principal })}
        />
      </FormField>
    </FormLayout>
  );
}
