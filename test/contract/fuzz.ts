/**
 * One round of generated requests to all operations of one server. Returns each failure as a request that reproduces
 * it.
 */
import fc from "fast-check";
import { chanceFrom } from "./fuzz/chance.ts";
import { openArena, type Arena } from "./fuzz/ground.ts";
import { requestTo } from "./fuzz/requests.ts";
import { asCurl, send, type Sent } from "./fuzz/send.ts";
import { judge } from "./fuzz/verdict.ts";
import { operationsOf, readDocument, type Operation } from "./operations.ts";
import { answerChecker } from "./shapes.ts";

export type Round = {
  /** Number of responses of each class by operation: `{ "connector.get": { "2xx": 3, "4xx": 9 } }`. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly requests: number;
  /** At most one for each operation, as small as possible. */
  readonly failures: readonly string[];
};

const document = readDocument();
const check = answerChecker(document);
/** GraphQL has many operations behind two paths. */
const GRAPHQL_SHARE = 8;
/** Most requests to make a failure smaller. */
const SMALLER = 150;

const isDelete = ({ method }: Operation): boolean => method === "DELETE";

/** Operations that delete come last, so that the others find resources. */
const operations = operationsOf(document).toSorted((a, b) => Number(isDelete(a)) - Number(isDelete(b)));

export async function fuzzRound(seed: number, requests: number, only = ""): Promise<Round> {
  const chosen = operations.filter(({ operationId }) => operationId.startsWith(only));
  const shares = chosen.reduce((sum, operation) => sum + shareOf(operation), 0);
  const [counts, failures] = [new Map<string, Map<string, number>>(), [] as string[]];
  const arena = await openArena();
  let sentAlready = 0;
  let shareAlready = 0;
  try {
    for (const operation of chosen) {
      shareAlready += shareOf(operation);
      const numRuns = Math.ceil((requests * shareAlready) / shares) - sentAlready;
      sentAlready += numRuns;
      const tally = new Map<string, number>();
      counts.set(operation.operationId, tally);
      const failure = await fuzzOperation(arena, operation, { seed, numRuns, tally });
      if (failure) failures.push(failure);
    }
  } finally {
    await arena.stop();
  }
  return { counts, requests: sentAlready, failures };
}

const shareOf = ({ operationId }: Operation): number => (operationId.startsWith("graphql.") ? GRAPHQL_SHARE : 1);

type Run = { readonly seed: number; readonly numRuns: number; readonly tally: Map<string, number> };

async function fuzzOperation(
  arena: Arena,
  operation: Operation,
  { seed, numRuns, tally }: Run,
): Promise<string | undefined> {
  let smallest: { readonly sent: Sent; readonly error: unknown } | undefined;
  let tried = 0;
  const property = fc.asyncProperty(fc.gen(), async (draw) => {
    if (smallest && (tried += 1) > SMALLER) return;
    const sent = requestTo(chanceFrom(draw), operation, arena.ground);
    try {
      const status = await ask(arena, operation, sent);
      if (!smallest) tally.set(status, (tally.get(status) ?? 0) + 1);
    } catch (error) {
      smallest = { sent, error };
      throw error;
    }
  });
  await fc.check(property, { seed: seed + hash(operation.operationId), numRuns });
  if (!smallest) return undefined;
  const reason = smallest.error instanceof Error ? smallest.error.message : String(smallest.error);
  return `${operation.operationId}: ${reason}\n  ${asCurl(smallest.sent, arena.platform.apiKey).slice(0, 4_000)}`;
}

/** Returns the class of the response's status. Throws if the response is wrong. */
async function ask(arena: Arena, operation: Operation, sent: Sent): Promise<string> {
  // Prevents responses about too many requests, which this test does not cover.
  arena.platform.clock.advance(6_000);
  const answer = await send(arena.platform.url, sent, arena.agent);
  await judge(arena, check, { operation, sent, answer });
  return `${Math.floor(answer.status / 100)}xx`;
}

/** Each operation gets different requests. */
const hash = (text: string): number =>
  [...text].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 65_521, 7);
