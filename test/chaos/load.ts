/** The load: a mix of starts, webhooks and aborts, some each second, and what was answered to each. */
import { setTimeout as rest } from "node:timers/promises";
import type { Api } from "./api.ts";
import { SERVERS } from "./names.ts";
import type { Kind } from "./pipelines.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";
import type { World } from "./world.ts";

/** One request that starts an execution. Times as in Timeline. */
export type Request = {
  readonly number: number;
  readonly kind: Kind;
  readonly sentAt: number;
  /** The delegate that it asks for; any, where there is none. */
  readonly delegate?: string;
  /** Whether it was answered with 200. */
  acknowledged: boolean;
  /** As the answer names it; a webhook's is not told then. */
  execution: string | undefined;
  /** When an abort of it was acknowledged. */
  abortedAt: number | undefined;
};

export type Load = {
  readonly requests: readonly Request[];
  /** Answers that were neither 200 nor a failure that an outage explains, one text for each. */
  readonly refusals: readonly string[];
  readonly count: () => { readonly sent: number; readonly acknowledged: number };
  /** Sends one more of this kind; resolves when it is answered. */
  readonly send: (kind: Kind, pipeline?: string, delegate?: string) => Promise<Request>;
  /** Sends no more, and waits for what is under way. */
  readonly stop: () => Promise<void>;
};

export type LoadOptions = {
  readonly world: Pick<World, "api">;
  readonly random: Random;
  readonly timeline: Timeline;
  /** Requests a second. */
  readonly rate: number;
  /** The address of the webhook. */
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

  /** Asks until one request is answered: whether an unanswered one was done shows in the next answer. */
  async function abort(request: Request, execution: string, after: number): Promise<void> {
    await rest(after);
    for (let tries = 0; tries < ABORT_TRIES; tries += 1) {
      const answer = await server()
        .abort(execution)
        .catch(() => undefined);
      if (answer?.status === 200) return void (request.abortedAt = timeline.now());
      // Ended, or being aborted by a request that got no answer.
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
