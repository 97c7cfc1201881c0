import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { ApiError, messageOf } from "../api/api-error.ts";
import { ErrorState } from "../ui/error-state.tsx";
import { useTitle } from "../util/use-title.ts";
import { PageNotFound } from "./page-not-found.tsx";

/** Stands in the place of a page that cannot be shown. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const { reset: resetQueries } = useQueryErrorResetBoundary();
  useTitle("Error");
  if (error instanceof ApiError && error.status === 404) return <PageNotFound reason={error.message} />;
  const retry = (): void => {
    resetQueries();
    reset();
    void router.invalidate();
  };
  const isForbidden = error instanceof ApiError && error.status === 403;
  return (
    <ErrorState
      title={isForbidden ? "You may not see this page" : "The page could not be loaded"}
      message={messageOf(error)}
      correlationId={error instanceof ApiError ? error.correlationId : undefined}
      onRetry={retry}
    />
  );
}
