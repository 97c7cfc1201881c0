import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";

/** Answers are fresh for this long: a page that was just left opens at once. Streams bring later changes. */
const FRESH_MS = 10_000;
const RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // Refusals are final; only a missing answer may come at the next attempt.
      retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < RETRIES,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});
