import { fetchData } from "../../../api/client.ts";
import { executionLogGroups, executionLogLines, executionSearchLogs } from "../../../api/operations.gen.ts";
import type { LogReader } from "./log-answers.ts";

/** The log of a node, or of one of its attempts. */
export type LogName = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly planExecutionId: string;
  readonly nodeExecutionId: string;
  readonly attempt?: number;
};

/** What requests about this log have in common. */
export const requestOf = ({ planExecutionId, ...query }: LogName) => ({ path: { planExecutionId }, query });

export function createLogReader(name: LogName): LogReader {
  const { path, query } = requestOf(name);
  return {
    lines: (range, signal) =>
      fetchData(executionLogLines, { path, query: { ...query, ...range } }, signal === undefined ? {} : { signal }),
    search: (text, from, signal) =>
      fetchData(executionSearchLogs, { path, query: { ...query, text, from } }, { signal }),
    groups: (from, signal) => fetchData(executionLogGroups, { path, query: { ...query, from } }, { signal }),
  };
}
