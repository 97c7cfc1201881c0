/** Executions that the pictures of the documentation show: some that have ended, and one that waits. */
import { setTimeout as rest } from "node:timers/promises";
import type { Facts } from "../demo/server.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const POLL_MS = 100;
const APPROVAL_INPUTS = `pipeline:
  identifier: ask_before_a_release
  variables:
    - { name: version, type: String, value: 1.4.2 }
`;

export type Runs = { readonly flow: string };

type Started = { readonly data: { readonly planExecution: { readonly uuid: string } } };
type Details = {
  readonly data: { readonly pipelineExecutionSummary: { readonly status: string; readonly endTs: number | null } };
};

/** Resolves when those that end have ended. */
export async function startRuns({ baseUrl, accountId, apiKey }: Facts, signal: AbortSignal): Promise<Runs> {
  const call = async <T>(method: string, path: string, body?: string): Promise<T> => {
    const url = `${baseUrl}/pipeline/api${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}&${SCOPE}`;
    const headers = { "x-api-key": apiKey, "content-type": "application/yaml" };
    const answer = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${url}: ${text}`);
    return JSON.parse(text) as T;
  };
  const start = async (pipeline: string, inputs?: string): Promise<string> =>
    (await call<Started>("POST", `/pipeline/execute/${pipeline}`, inputs)).data.planExecution.uuid;
  const untilEnd = async (execution: string): Promise<void> => {
    for (;;) {
      const { data } = await call<Details>("GET", `/pipelines/execution/${execution}`);
      if (data.pipelineExecutionSummary.endTs !== null) return;
      await rest(POLL_MS, undefined, { signal });
    }
  };
  const flow = await start("flow_of_a_release");
  const matrix = await start("test_matrix");
  await Promise.all([untilEnd(flow), untilEnd(matrix)]);
  await untilEnd(await start("test_matrix"));
  await start("ask_before_a_release", APPROVAL_INPUTS);
  return { flow };
}
