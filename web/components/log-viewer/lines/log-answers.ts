/** What the API answers about a log. Nothing here needs a browser, so that tests can use it without one. */
import type { Operation } from "../../../api/operation.ts";
import type { executionLogGroups, executionLogLines, executionSearchLogs } from "../../../api/operations.gen.ts";

type AnswerOf<Op> = Op extends Operation<infer _P, infer _Q, infer _B, infer Answer> ? Answer : never;
type DataOf<Op> = AnswerOf<Op> extends { readonly data: infer Data } ? Data : never;

export type LinesAnswer = DataOf<typeof executionLogLines>;
export type LogLine = LinesAnswer["lines"][number];
export type LineRange = { readonly from: number; readonly limit: number } | { readonly last: number };
export type SearchAnswer = DataOf<typeof executionSearchLogs>;
export type GroupsAnswer = DataOf<typeof executionLogGroups>;

export type LogReader = {
  readonly lines: (range: LineRange, signal?: AbortSignal) => Promise<LinesAnswer>;
  /** `from` is the `next` of the answer before. */
  readonly search: (text: string, from: number, signal: AbortSignal) => Promise<SearchAnswer>;
  readonly groups: (from: number, signal: AbortSignal) => Promise<GroupsAnswer>;
};
