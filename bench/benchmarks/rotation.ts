/**
 * Rotation of the root key and of the data keys for 10,000 secrets. The commands run as processes while a server runs
 * pipelines that use the secrets and readers resolve secrets without a pause. The floor of a resolve is the same before
 * the rotation. The benchmark fails if a single read or run fails.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentOf } from "../../src/platform/crypto/chunks.ts";
import { createKeyRing, type KeyRing } from "../../src/platform/crypto/key-ring.ts";
import type { Db } from "../../src/platform/db/db.ts";
import { withRatio, percentile, type Bench, type Sizes } from "../runner/result.ts";
import { createSecretRuns, nameOfSecret, valueOfSecret, type SecretRuns } from "../platform/secret-runs.ts";
import { openWithoutLog, createSecretOperations, systemActorOf } from "../platform/secret-operations.ts";
import { startServer, temporaryFolder } from "../platform/server.ts";

/** `stored`: number of secrets, spread over the pipelines of `createSecretRuns`; `calmMs`: duration of the floor. */
const SIZES: Sizes<{ stored: number; calmMs: number }> = {
  whole: { stored: 10_000, calmMs: 10_000 },
  brief: { stored: 200, calmMs: 200 },
};
const READERS = 4;
const ACCOUNT_SCOPE = { orgIdentifier: null, projectIdentifier: null };
const LAUNCHER = fileURLToPath(new URL("../../cli/railhead.js", import.meta.url));

export const rotation: Bench = async (signal, progress, size) => {
  const { stored, calmMs } = SIZES[size];
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const former = { RAILHEAD_ROOT_KEY: first.toString("base64") };
  const fresh = { RAILHEAD_ROOT_KEY: second.toString("base64") };
  const both = { ...fresh, RAILHEAD_ROOT_KEY_PREVIOUS: first.toString("base64") };
  const folder = await temporaryFolder();
  const env = { ...process.env, RAILHEAD_DATA_DIR: join(folder.path, "data") };
  try {
    let server = await startServer(folder.path, signal, former);
    const { accountId } = server.facts;
    const db = openWithoutLog(await server.databaseUrl(), 20);
    progress(`storing ${stored} secrets`);
    await store(db, accountId, createKeyRing(first), stored);
    await db.close();
    await server.stop();
    server = await startServer(folder.path, signal, both);
    const rotated = openWithoutLog(await server.databaseUrl());
    try {
      const runs = await createSecretRuns(server.facts, stored, signal);
      const readers = createReaders(rotated, accountId, createKeyRing(second, first), { stored, runs });
      progress("reading without a rotation");
      const calm = await readers.during(() => new Promise((resolve) => setTimeout(resolve, calmMs)));
      progress("rotating the root key");
      const root = await readers.during(() => run(["secrets", "rotate", "root-key"], { ...env, ...both }, signal));
      progress("rotating the data keys");
      const data = await readers.during(() => run(["secrets", "rotate", "data-keys"], { ...env, ...both }, signal));
      progress("verifying with the new root key alone");
      const verify = await readers.during(() => run(["secrets", "verify"], { ...env, ...fresh }, signal));
      runs.close();
      const p99 = (times: readonly number[]): number => percentile(times, 0.99);
      const floor = p99(calm.times);
      return {
        definition: `The commands from start to end, on ${stored.toLocaleString("en")} stored texts, beside a server that runs pipelines with ten of them each, and ${READERS} readers that resolve without a pause; floor: the readers' 99th percentile just before.`,
        parameters: {
          secrets: stored,
          readers: READERS,
          failedReads: 0,
          readsBefore: calm.times.length,
          readsDuringRootKey: root.times.length,
          readsDuringDataKeys: data.times.length,
          failedRuns: 0,
          runsDuringRootKey: root.runs,
          runsDuringDataKeys: data.runs,
        },
        figures: [
          { name: "rotate root-key", value: root.seconds, unit: "s" },
          { name: "rotate data-keys", value: data.seconds, unit: "s" },
          { name: "verify, with the new root key alone", value: verify.seconds, unit: "s" },
          withRatio({ name: "resolve during rotate root-key, p99", value: p99(root.times), unit: "ms", floor }),
          withRatio({ name: "resolve during rotate data-keys, p99", value: p99(data.times), unit: "ms", floor }),
        ],
      };
    } finally {
      await rotated.close();
      await server.stop();
    }
  } finally {
    await folder.remove();
  }
};

async function store(db: Db, accountId: string, keys: KeyRing, count: number): Promise<void> {
  const secrets = createSecretOperations(db, keys);
  let next = 0;
  const creator = async (): Promise<void> => {
    for (let nth = next++; nth < count; nth = next++) {
      const name = nameOfSecret(nth);
      const common = { ...ACCOUNT_SCOPE, identifier: name, name, description: "", tags: {}, scoping: {} };
      await secrets.create(systemActorOf(accountId), {
        ...common,
        type: "ENCRYPTED_TEXT",
        content: contentOf(valueOfSecret(nth)),
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, creator));
}

type Read = { readonly seconds: number; readonly times: readonly number[]; readonly runs: number };

/** Readers and runs that use secrets while `work` runs. `during` returns the times of the resolves in ms. */
function createReaders(
  db: Db,
  accountId: string,
  keys: KeyRing,
  load: { readonly stored: number; readonly runs: SecretRuns },
): { readonly during: (work: () => Promise<void>) => Promise<Read> } {
  const secrets = createSecretOperations(db, keys);
  const actor = systemActorOf(accountId);
  return {
    during: async (work) => {
      const times: number[] = [];
      let isOver = false;
      const reader = async (): Promise<void> => {
        while (!isOver) {
          const nth = Math.floor(Math.random() * load.stored);
          const name = nameOfSecret(nth);
          const from = performance.now();
          const value = await secrets.openText(actor, ACCOUNT_SCOPE, name);
          times.push(performance.now() - from);
          if (value !== valueOfSecret(nth)) throw new Error(`${name} resolved to a different value`);
        }
      };
      const from = performance.now();
      const reading = Promise.all(Array.from({ length: READERS }, reader));
      const running = load.runs.until(() => isOver);
      await Promise.race([work(), reading, running]);
      const seconds = (performance.now() - from) / 1_000;
      isOver = true;
      await reading;
      return { seconds, times, runs: await running };
    },
  };
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { env, signal, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`railhead ${args.join(" ")} ended with ${code}: ${errors}`);
}
