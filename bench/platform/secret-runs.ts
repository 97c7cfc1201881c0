/** Runs of pipelines on the local delegate whose steps compare the values of secrets with the stored values. */
import { createClient } from "./client.ts";
import { createPipeline, createProject, execute, logOf } from "./pipelines.ts";
import type { Facts } from "./server.ts";

const PIPELINES = 20;
const SECRETS_EACH = 10;
const AT_ONCE = 2;
const UNREACHABLE_LIMIT = "10000000";

export const nameOfSecret = (nth: number): string => `secret_${nth}`;
export const valueOfSecret = (nth: number): string => `value of ${nameOfSecret(nth)}`;

export type SecretRuns = {
  /** Starts runs until `isOver` returns true; returns their number. Throws if one does not succeed. */
  readonly until: (isOver: () => boolean) => Promise<number>;
  readonly close: () => void;
};

/** `stored` is the number of secrets in the account, with names of `nameOfSecret` and values of `valueOfSecret`. */
export async function createSecretRuns(facts: Facts, stored: number, signal: AbortSignal): Promise<SecretRuns> {
  const client = createClient(facts, AT_ONCE + 1, signal);
  await client.set({ requests_per_minute_account: UNREACHABLE_LIMIT, requests_per_minute_token: UNREACHABLE_LIMIT });
  await createProject(client);
  const pipelines: string[] = [];
  for (let n = 0; n < PIPELINES; n += 1) pipelines.push(await createPipeline(client, `p${n}`, 1, scriptOf(n, stored)));
  let next = 0;
  return {
    until: async (isOver) => {
      let runs = 0;
      const runner = async (): Promise<void> => {
        while (!isOver()) {
          await logOf(client, await execute(client, pipelines[next++ % PIPELINES] ?? ""));
          runs += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, runner));
      return runs;
    },
    close: client.close,
  };
}

/** Distributes the secrets of the pipelines evenly over all stored secrets. */
function scriptOf(pipeline: number, stored: number): string {
  const step = Math.floor(stored / (PIPELINES * SECRETS_EACH));
  return Array.from({ length: SECRETS_EACH }, (_, n) => {
    const nth = (n * PIPELINES + pipeline) * step;
    return `test '${valueOfSecret(nth)}' = "<+secrets.getValue("account.${nameOfSecret(nth)}")>" || exit 1\n`;
  }).join("");
}
