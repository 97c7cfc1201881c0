import { useNavigate, useSearch } from "@tanstack/react-router";
import { parseResourceSearch, type ResourceSearch } from "./resource-search.ts";

/** What the address of the list says, and how to close the details that it has open. */
export function useOpenResource(): { readonly search: ResourceSearch; readonly close: () => void } {
  const search = parseResourceSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  return {
    search,
    close: () => void navigate({ to: ".", search: ({ open: _, ...others }) => others }),
  };
}
