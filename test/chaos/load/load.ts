/** The load: starts, webhooks and aborts at a fixed rate, with their responses. */
import { setTimeout as rest } from "node:timers/promises";
import type { Api } from "./api.ts";
import { SERVERS } from "../names.ts";
import type { Kind } from "./pipelines.ts";
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
  /** Time of the acknowledgement of an abort. */
  abortedAt: number | undefined;
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
} as const;

const ABORT_TRIES = 8;

export function startLoad({ world, random, timeline, rate, webhook, weights }: LoadOptions): Load {
  const requests: Request[] = [];
  const refusals: string[] = [];
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const server = (): Api => world.api(random.pick(SERVERS));

  async function send(kind: Kind, pipeline: string = kind, delegate?: string): Promise<Request> {
    const number = requests.length + 1;
    const request: Request = {
      number,
      kind,
      sentAt: timeline.now(),
      ...(delegate === undefined ? {} : { delegate }),
      acknowledged: false,
      execution: undefined,
      abortedAt: undefined,
    };
    requests.push(request);
    const [api, abortAfter] = [server(), random.between(500, 5_000)];
    const answer = await (kind === "hook" ? api.deliver(webhook, number) : api.start(pipeline, number)).catch(
      () => undefined,
    );
    if (answer === undefined) return request;
    if (answer.status === 200) {
      request.acknowledged = true;
      if (kind !== "hook") request.execution = answer.body.data.planExecution.uuid as string;
      if (kind === "abort" && request.execution !== undefined) await abort(request, request.execution, abortAfter);
    } else if (answer.status < 500) refusals.push(`request ${number} (${kind}) got ${answer.status}: ${answer.text}`);
    return request;
  }

  /**
   * Repeats the abort until there is a response. The response to a repeated abort shows whether an earlier one
   * arrived.
   */
  async function abort(request: Request, execution: string, after: number): Promise<void> {
    await rest(after);
    for (let tries = 0; tries < ABORT_TRIES; tries += 1) {
      const answer = await server()
        .abort(execution)
        .catch(() => undefined);
      if (answer?.status === 200) return void (request.abortedAt = timeline.now());
      // The execution has ended, or an abort without a response is in progress.
      if (answer && answer.status < 500) return;
      await rest(500);
    }
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
