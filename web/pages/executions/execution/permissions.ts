import { executionAbort, executionRerun } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { useProjectScope } from "../../../routes/scope.ts";

/** Who may start executions may interrupt them; permission to abort alone is enough to end them. */
export function useRunPermissions(): { readonly mayRun: boolean; readonly mayEnd: boolean } {
  const may = useMay(useProjectScope());
  const mayRun = may(executionRerun);
  return { mayRun, mayEnd: mayRun || may(executionAbort) };
}
