import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Link } from "../../../ui/link.tsx";
import { parseAccessSearch } from "../access-search.ts";

/** Opens the details of an item beside its list. */
export const ItemLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => (
  <Link look="quiet" to="." search={(former) => parseAccessSearch({ ...former, show: id })}>
    {children}
  </Link>
);

/** The item whose details are open, and the function that closes them. */
export function useOpenItem(): { readonly shown: string | undefined; readonly close: () => void } {
  const { show, ...rest } = parseAccessSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  return { shown: show, close: () => void navigate({ to: ".", search: parseAccessSearch(rest) }) };
}
