/** What clients do to executions that they have started: abort, pause, decide, approve. */
import { setTimeout as rest } from "node:timers/promises";
import type { Answer, Api, Interrupt } from "./api.ts";
import { APPROVERS } from "./flows.ts";
import type { KindPlan } from "./kinds.ts";
import type { Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";

/** `unknown`: no response, or only to a repetition of a request that had none. */
export type Response = "accepted" | "refused" | "unknown";
export type Decision = {
  readonly by: (typeof APPROVERS)[number];
  readonly action: "APPROVE" | "REJECT";
  readonly response: Response;
};

export type Seen = {
  /** Time of the acknowledgement of an abort, as in Timeline. */
  readonly abortedAt?: number;
  /** From the acknowledgement of a pause until the resume was sent, in epoch milliseconds. */
  readonly paused?: { readonly from: number; readonly to: number };
  readonly decisions?: readonly Decision[];
  readonly interventions?: readonly { readonly type: Interrupt; readonly response: Response }[];
};

export type ClientsOptions = {
  readonly server: () => Api;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly approvers: readonly string[];
};

type Started = { readonly execution: string; readonly after: number };
type Client = (started: Started) => Promise<Seen>;

const TRIES = 8;
const AGAIN_MS = 500;
/** Shorter than the timeouts of the steps that wait for a client. */
const FIND_MS = 60_000;
const PAUSE_MS = 3_000;

export function createClients(options: ClientsOptions): Readonly<Record<NonNullable<KindPlan["client"]>, Client>> {
  const { server, random, timeline, approvers } = options;

  return {
    abort: async ({ execution, after }) => {
      await rest(after);
      const response = await repeated(() => server().interrupt(execution, "AbortAll"));
      return response === "accepted" ? { abortedAt: timeline.now() } : {};
    },
    pause: async ({ execution, after }) => {
      await rest(after / 4);
      const response = await repeated(() => server().interrupt(execution, "Pause"));
      const from = Date.now();
      await rest(PAUSE_MS);
      const to = Date.now();
      // A paused execution never ends by itself: the resume has to arrive.
      await answered(() => server().interrupt(execution, "Resume"), Number.POSITIVE_INFINITY);
      return response === "accepted" ? { paused: { from, to } } : {};
    },
    decide: async ({ execution }) => {
      const node = await found(() => server().intervention(execution, "broken"));
      if (node === undefined) return {};
      const types = random.shuffle(["MarkAsSuccess", "Ignore"] as const);
      const give = async (type: Interrupt) => ({
        type,
        response: await repeated(() => server().interrupt(execution, type, node)),
      });
      return { interventions: await Promise.all(types.map(give)) };
    },
    approve: async ({ execution }) => {
      const approval = await found(() => server().approval(execution));
      if (approval === undefined) return {};
      const action = random.pick(["APPROVE", "REJECT"] as const);
      const actions = random.shuffle(["APPROVE", "APPROVE", action] as const);
      const give = async (by: (typeof APPROVERS)[number], n: number): Promise<Decision> => ({
        ...{ by, action: actions[n] ?? "APPROVE" },
        response: await repeated(() => server().decide(approval, actions[n] ?? "APPROVE", approvers[n] ?? "")),
      });
      return { decisions: await Promise.all(APPROVERS.map(give)) };
    },
  };
}

/** That to a repeated request does not tell what an earlier one did, unless it is a success. */
async function repeated(send: () => Promise<Answer>): Promise<Response> {
  const { status, tries } = await answered(send, TRIES);
  if (status === 200) return "accepted";
  return status !== undefined && tries === 1 ? "refused" : "unknown";
}

/** Repeats a request until there is a response. */
async function answered(
  send: () => Promise<Answer>,
  most: number,
): Promise<{ readonly status: number | undefined; readonly tries: number }> {
  for (let tries = 1; tries <= most; tries += 1) {
    const answer = await send().catch(() => undefined);
    if (answer && answer.status < 500 && answer.status !== 429) return { status: answer.status, tries };
    await rest(AGAIN_MS);
  }
  return { status: undefined, tries: most };
}

/** Asks until there is something. */
async function found<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const end = performance.now() + FIND_MS; performance.now() < end; await rest(AGAIN_MS)) {
    const one = await find().catch(() => undefined);
    if (one !== undefined) return one;
  }
  return undefined;
}
