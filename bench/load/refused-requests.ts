/** Requests that are to be refused, one after the other on one connection, and how long each takes. */
import { Agent, request } from "node:http";
import { median, percentile } from "../runner/result.ts";

export type Attempt = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status that refuses it. */
  readonly status: number;
};

/** Milliseconds from the writing of a request to the end of its answer. */
function timeOf(agent: Agent, { method, url, headers, body, status }: Attempt, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const sent = request(url, { method, agent, headers, signal }, (response) => {
      response.resume().on("end", () => {
        if (response.statusCode === status) resolve(performance.now() - from);
        else reject(new Error(`an attempt was answered ${response.statusCode} instead of ${status}`));
      });
      response.on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

export type Kinds<K extends string> = Readonly<Record<K, () => Attempt>>;

/**
 * The kinds of attempts in turns, their order shuffled in each round, so that whatever else happens on the machine
 * meets all of them alike. `before` runs untimed before each.
 */
export async function timesOf<K extends string>(
  kinds: Kinds<K>,
  rounds: { readonly warmUp: number; readonly measured: number },
  signal: AbortSignal,
  before: () => Promise<void> = async () => undefined,
): Promise<Readonly<Record<K, readonly number[]>>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const names = Object.keys(kinds) as K[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  const round = async (isMeasured: boolean): Promise<void> => {
    for (const name of shuffled(names)) {
      await before();
      const time = await timeOf(agent, kinds[name](), signal);
      if (isMeasured) times[name].push(time);
    }
  };
  try {
    for (let n = 0; n < rounds.warmUp + rounds.measured; n += 1) await round(n >= rounds.warmUp);
    return times;
  } finally {
    agent.destroy();
  }
}

const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);

/** The median and what lies around it, in milliseconds. */
export const spread = (times: readonly number[]): readonly number[] =>
  [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => Number(percentile(times, share).toPrecision(4)));

/**
 * Between which values the ratio of the medians of two samples lies, 95 times in 100 (bootstrap): 1 between them says
 * that nobody can tell the two apart by so many requests.
 */
export function ratioBounds(one: readonly number[], other: readonly number[], draws = 500): readonly number[] {
  const again = (times: readonly number[]): number =>
    median(times.map(() => times[Math.floor(Math.random() * times.length)] ?? Number.NaN));
  const ratios = Array.from({ length: draws }, () => again(one) / again(other));
  return [0.025, 0.975].map((share) => Number(percentile(ratios, share).toPrecision(4)));
}
