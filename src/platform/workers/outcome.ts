/** What a worker answers: the result of its work, or what the work threw. */
import { isMainThread, parentPort } from "node:worker_threads";
import { type Fault, Problem } from "../../core/problem.ts";

type Thrown =
  | {
      readonly code: string;
      readonly status: number;
      readonly wire: string;
      readonly text: string;
      readonly faults: readonly Fault[];
    }
  | { readonly stack: string };

export type Outcome = { readonly result: unknown } | { readonly thrown: Thrown };

/** In a worker: answers each message with what `work` makes of it. */
export function answerMessages(work: (message: unknown) => unknown): void {
  if (isMainThread) throw new Error("this module runs in a worker");
  const port = parentPort;
  port?.on("message", (message: unknown) => {
    void outcomeOf(() => work(message)).then((outcome) => port.postMessage(outcome));
  });
}

async function outcomeOf(work: () => unknown): Promise<Outcome> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof Problem))
      return { thrown: { stack: error instanceof Error ? `${error.stack}` : String(error) } };
    const { code, status, wire, message: text, faults } = error;
    return { thrown: { code, status, wire, text, faults } };
  }
}

/** The error that was thrown in the worker. */
export function thrownOf({ thrown }: { readonly thrown: Thrown }): Error {
  if ("stack" in thrown) return new Error("a worker has failed", { cause: thrown.stack });
  const { code, status, wire, text, faults } = thrown;
  return new Problem(code, status, wire, text, { faults });
}
