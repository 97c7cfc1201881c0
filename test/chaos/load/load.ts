/** The load: starts and webhooks at a fixed rate, and what clients do to executions, with their responses. */
import { setTimeout as rest } from "node:timers/promises";
import type { Api } from "./api.ts";
import { SERVERS } from "../names.ts";
import { createClients, type Seen } from "./clients.ts";
import type { Kind, Kinds } from "./kinds.ts";
import type { Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import type { World } from "../platform/world.ts";

/** A request that starts an execution. Times as in Timeline. */
export type Request = {
  readonly number: number;
  readonly kind: Kind;
  readonly sentAt: number;
  /** The requested delegate; undefined for any. */
  readonly delegate?: string;
  /** Whether the response was 200. */
  acknowledged: boolean;
  /** The execution's id in the response. The response to a webhook has none. */
  execution: string | undefined;
  /** What clients did to the execution. */
  seen: Seen;
};

export type Load = {
  readonly requests: readonly Request[];
  /** Responses other than 200 that no outage explains, as text. */
  readonly refusals: readonly string[];
  readonly count: () => { readonly sent: number; readonly acknowledged: number };
  /** Sends a request of this kind. Resolves with the response. */
  readonly send: (kind: Kind, pipeline?: string, delegate?: string) => Promise<Request>;
  /** Sends no more requests and waits for the open ones. */
  readonly stop: () => Promise<void>;
};

export type LoadOptions = {
  readonly world: Pick<World, "api">;
  readonly random: Random;
  readonly timeline: Timeline;
  /** Requests per second. */
  readonly rate: number;
  /** Address of the webhook. */
  readonly webhook: string;
  readonly weights: Readonly<Partial<Record<Kind, number>>>;
  readonly kinds: Kinds;
  /** Tokens of those who may approve. */
  readonly approvers: readonly string[];
};

export const USUAL_WEIGHTS = {
  outputs: 5,
  long: 4,
  rollback: 3,
  timeout: 1,
  abort: 2,
  escape: 1,
  secret: 3,
  hook: 6,
  flow: 3,
  cut: 1,
  regroup: 1,
  ask: 2,
  decide: 1,
  pause: 1,
  undo: 1,
  overdue: 1,
  lock: 2,
  chain: 2,
} as const;

export function startLoad(options: LoadOptions): Load {
  const { world, random, timeline, rate, webhook, weights, kinds, approvers } = options;
  const requests: Request[] = [];
  const refusals: string[] = [];
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const server = (): Api => world.api(random.pick(SERVERS));
  const clients = createClients({ server, random, timeline, approvers });

  async function send(kind: Kind, pipeline: string = kind, delegate?: string): Promise<Request> {
    const number = requests.length + 1;
    const request: Request = {
      number,
      kind,
      sentAt: timeline.now(),
      ...(delegate === undefined ? {} : { delegate }),
      acknowledged: false,
      execution: undefined,
      seen: {},
    };
    requests.push(request);
    const [api, after] = [server(), random.between(500, 5_000)];
    const answer = await (kind === "hook" ? api.deliver(webhook, number) : api.start(pipeline, number)).catch(
      () => undefined,
    );
    if (answer === undefined) return request;
    if (answer.status === 200) {
      request.acknowledged = true;
      if (kind !== "hook") request.execution = answer.body.data.planExecution.uuid as string;
      const { client } = kinds[kind];
      if (client && request.execution !== undefined)
        request.seen = await clients[client]({ execution: request.execution, after });
    } else if (answer.status < 500) refusals.push(`request ${number} (${kind}) got ${answer.status}: ${answer.text}`);
    return request;
  }

  const track = (work: Promise<unknown>): void => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };

  async function keepSending(): Promise<void> {
    while (!isOver) {
      track(send(random.weighted(weights as Record<Kind, number>)));
      await rest((500 + random.between(0, 1_000)) / rate);
    }
  }
  const sending = keepSending();

  return {
    requests,
    refusals,
    count: () => ({ sent: requests.length, acknowledged: requests.filter((one) => one.acknowledged).length }),
    send,
    stop: async () => {
      isOver = true;
      await sending;
      await Promise.all(running);
    },
  };
}
