import type { QueryClient } from "@tanstack/react-query";
import {
  accessExplain,
  accessListPrincipals,
  roleAssignmentAggregate,
  userAggregates,
} from "../../../api/operations.gen.ts";

const AFFECTED = [accessExplain, accessListPrincipals, roleAssignmentAggregate, userAggregates];

/** Reads everything again that shows role assignments. The user's own permissions may have changed, too. */
export async function invalidateAssignments(queryClient: QueryClient): Promise<void> {
  await Promise.all(
    ["permissions", ...AFFECTED.map(({ id }) => id)].map((key) => queryClient.invalidateQueries({ queryKey: [key] })),
  );
}
