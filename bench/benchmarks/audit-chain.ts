/**
 * The cost of the audit chain for callers that start executions: 16 concurrent callers over HTTP, the embedded database
 * with fsync, no delegate. Three variants take turns: no sealing (the floor; the benchmark holds the sealer's lock),
 * the sealer of the product, and a trigger that links each entry to the previous one and locks the end of the account's
 * chain until the commit.
 */
import { createClient, type Client } from "../platform/client.ts";
import { connectDatabase } from "../platform/database.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { withRatio, median, percentile, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

const SIZES: Sizes<{ callers: number; roundMs: number; rounds: number }> = {
  whole: { callers: 16, roundMs: 4_000, rounds: 3 },
  brief: { callers: 4, roundMs: 100, rounds: 1 },
};

type Round = { readonly rate: number; readonly p99: number };

const INLINE = `create function chained_inline() returns trigger language plpgsql as $$
begin
  update chained set hash = sha256(hash || convert_to(new::text, 'utf8')) where account_id = new.account_id;
  return new;
end $$`;

export const auditChain: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { callers, roundMs, rounds: measured } = SIZES[size];
      const client = createClient(server.facts, callers, signal);
      const url = await server.databaseUrl();
      const [database, lockHolder] = [await connectDatabase(url), await connectDatabase(url)];
      await createProject(client);
      // One pipeline for each caller: runs of the same pipeline wait for each other's sequence number.
      const pipelines = await Promise.all(
        Array.from({ length: callers }, (_, n) => createPipeline(client, `chained_${n}`, 1, ":")),
      );
      await database.query("create table chained as select id as account_id, sha256('x') as hash from accounts");
      await database.query(INLINE);
      const rounds = { none: [] as Round[], sealer: [] as Round[], inline: [] as Round[] };
      const setSealing = async (on: boolean): Promise<unknown> =>
        on ? lockHolder.query("rollback") : lockHolder.query("begin; select 1 from audit_sealed for update");
      await load(client, pipelines, roundMs);
      for (let round = 1; round <= measured; round += 1) {
        progress(`round ${round} of ${measured}`);
        await setSealing(false);
        rounds.none.push(await load(client, pipelines, roundMs));
        await setSealing(true);
        rounds.sealer.push(await load(client, pipelines, roundMs));
        await setSealing(false);
        await database.query(
          "create trigger chained_inline before insert on audit_entries for each row execute function chained_inline()",
        );
        rounds.inline.push(await load(client, pipelines, roundMs));
        await database.query("drop trigger chained_inline on audit_entries");
        await setSealing(true);
      }
      await Promise.all([database.close(), lockHolder.close()]);
      client.close();
      const rate = (of: readonly Round[]): number => median(of.map((one) => one.rate));
      const p99 = (of: readonly Round[]): number => median(of.map((one) => one.p99));
      const variants = [
        ["sealed a moment later", rounds.sealer],
        ["linked in the transaction", rounds.inline],
      ] as const;
      return {
        definition: `Executions started by ${callers} callers at once over HTTP; floor: the same with nothing sealed.`,
        parameters: { callers, seconds: roundMs / 1_000, rounds: measured },
        figures: variants.flatMap(([name, of]) => [
          withRatio({ name: `starts, ${name}`, value: rate(of), unit: "/s", floor: rate(rounds.none) }),
          withRatio({ name: `p99, ${name}`, value: p99(of), unit: "ms", floor: p99(rounds.none) }),
        ]),
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

async function load(client: Client, pipelines: readonly string[], milliseconds: number): Promise<Round> {
  const until = performance.now() + milliseconds;
  const times: number[] = [];
  await Promise.all(
    pipelines.map(async (pipeline) => {
      while (performance.now() < until) {
        const from = performance.now();
        await execute(client, pipeline);
        times.push(performance.now() - from);
      }
    }),
  );
  return { rate: times.length / (milliseconds / 1_000), p99: percentile(times, 0.99) };
}
