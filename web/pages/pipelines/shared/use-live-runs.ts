import type { ConnectionState } from "../../../api/event-stream.ts";
import { executionList, pipelineList, pipelineSummary } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { useProjectChanges } from "../../../components/use-project-changes.ts";

const OPERATIONS = [pipelineList, pipelineSummary, executionList];

/** Reads what shows the project's runs again when one of them has changed. Returns the state of the connection. */
export const useLiveRuns = (scope: Required<Scope>): ConnectionState => useProjectChanges(scope, OPERATIONS);
