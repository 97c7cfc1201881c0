import type { QueryClient } from "@tanstack/react-query";

/** Reads again what shows triggers. */
export const readTriggersAgain = (queryClient: QueryClient): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [id, , kind] }) => String(id).startsWith("trigger.") && kind !== "document",
  });
