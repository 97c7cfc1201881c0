import type { ConnectionState } from "../../api/event-stream.ts";
import {
  approvalListPending,
  deploymentMeasures,
  executionList,
  executionStatistics,
} from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { useProjectChanges } from "../../components/use-project-changes.ts";

const SHOWN_BY_PAGE = [executionList, executionStatistics, deploymentMeasures, approvalListPending];

/** Reads again what the page shows whenever an execution of the project changes. Tells whether it is connected. */
export const useLiveProject = (scope: Required<Scope>): ConnectionState => useProjectChanges(scope, SHOWN_BY_PAGE);
