/** Logs that a test writes, of executions that no delegate runs. */
import assert from "node:assert/strict";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import type { TestPlatform } from "./platform.ts";

export function uuidOf(wire: string): Uuid {
  const known = fromWire(wire);
  assert.ok(known);
  return known;
}

/** The answers of the routes that read a log by lines. */
export type LogAnswer = {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
  readonly data: any;
  readonly text: string;
};

/** Asks for `lines`, `search` or `groups` of the log of an execution. */
export async function readViewer(
  to: Pick<TestPlatform, "send">,
  id: string,
  path: "lines" | "search" | "groups",
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<LogAnswer> {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const answer = await to.send(
    "GET",
    `/pipeline/api/pipelines/execution/${id}/logs/${path}?${new URLSearchParams(texts).toString()}`,
  );
  return { status: answer.status, data: answer.status === 200 ? answer.body.data : answer.body, text: answer.text };
}
