/** Sends requests that the server refuses, one after the other on one connection, and measures their times. */
import { Agent, request } from "node:http";
import { median, percentile } from "../runner/result.ts";

export type Attempt = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The expected status. */
  readonly status: number;
};

/** Milliseconds from sending a request to the end of its answer. Rejects if the status is not the expected one. */
function measureAttempt(
  agent: Agent,
  { method, url, headers, body, status }: Attempt,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const sent = request(url, { method, agent, headers, signal }, (response) => {
      response.resume().on("end", () => {
        if (response.statusCode === status) resolve(performance.now() - from);
        else reject(new Error(`an attempt got status ${response.statusCode} instead of ${status}`));
      });
      response.on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

export type Kinds<K extends string> = Readonly<Record<K, () => Attempt>>;

/**
 * Measures all kinds of attempts in each round, in random order, so that other work on the machine affects all kinds
 * equally. `before` runs before each attempt and is not measured. Returns milliseconds by kind, without warm-up rounds.
 */
export async function measureRefusals<K extends string>(
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
      const time = await measureAttempt(agent, kinds[name](), signal);
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

/** The percentiles 5, 25, 50, 75 and 95, in the unit of the times. */
export const spread = (times: readonly number[]): readonly number[] =>
  [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => Number(percentile(times, share).toPrecision(4)));

/**
 * The 95 % confidence interval of the ratio of two medians (bootstrap). If 1 lies within it, this number of requests
 * does not distinguish the two samples.
 */
export function ratioBounds(one: readonly number[], other: readonly number[], draws = 500): readonly number[] {
  const resampledMedian = (times: readonly number[]): number =>
    median(times.map(() => times[Math.floor(Math.random() * times.length)] ?? Number.NaN));
  const ratios = Array.from({ length: draws }, () => resampledMedian(one) / resampledMedian(other));
  return [0.025, 0.975].map((share) => Number(percentile(ratios, share).toPrecision(4)));
}
