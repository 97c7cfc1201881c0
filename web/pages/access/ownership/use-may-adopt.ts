import { useQueries } from "@tanstack/react-query";
import { ownershipAdopt } from "../../../api/operations.gen.ts";
import { mayBy, permissionsQuery, type Permitted } from "../../../api/permissions.ts";
import type { Owned } from "./owned.tsx";

/** Tells whether the user may edit the pipeline of a row, in the project of the row. */
export function useMayAdopt(rows: readonly Owned[]): (row: Owned) => boolean {
  const keys = [...new Set(rows.map(projectKey))];
  const results = useQueries({
    queries: keys.map((key) => {
      const [orgIdentifier = "", projectIdentifier = ""] = key.split("/");
      return permissionsQuery({ orgIdentifier, projectIdentifier });
    }),
  });
  const permitted = new Map<string, Permitted>();
  for (const [nth, key] of keys.entries()) {
    const found = results[nth]?.data;
    if (found) permitted.set(key, found);
  }
  return (row) => mayBy(permitted.get(projectKey(row)) ?? new Map())(ownershipAdopt, row.pipelineIdentifier);
}

const projectKey = ({ orgIdentifier, projectIdentifier }: Owned): string => `${orgIdentifier}/${projectIdentifier}`;
