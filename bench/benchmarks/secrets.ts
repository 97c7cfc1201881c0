/**
 * A file secret of 1 MiB: created through GraphQL as multipart form data, from the request to the answer after the
 * commit, and resolved as a run resolves it. The client prepares the bytes before the time starts. The floor is
 * AES-256-GCM over the same bytes in Node and one insert into, or one select from, a bare table of the same database.
 * The variants alternate; the figures are medians.
 * The second part measures how much the server's resident memory grows while it receives a file of 10 MiB. The file
 * itself accounts for 10 MiB; the rest is copies of sockets and driver that V8 has not collected yet.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { createKeyRing } from "../../src/platform/crypto/key-ring.ts";
import { createClient, type Client as Sender } from "../platform/client.ts";
import { withRatio, median, type Bench, type Sizes } from "../runner/result.ts";
import { openWithoutLog, createSecretOperations, systemActorOf } from "../platform/secret-operations.ts";
import { startServer, temporaryFolder, withServer, type Facts, type Server } from "../platform/server.ts";

const MIB = 1024 * 1024;
const SIZES: Sizes<{ rounds: number; servers: number }> = {
  whole: { rounds: 100, servers: 3 },
  brief: { rounds: 1, servers: 1 },
};
const WARM_UP = 10;
const UPLOADS = 5;
const LARGE = 10 * MIB;
const ACCOUNT_SCOPE = { orgIdentifier: null, projectIdentifier: null };

export const secrets: Bench = async (signal, progress, size) => {
  const { rounds: measured, servers } = SIZES[size];
  const first: number[] = [];
  const further: number[] = [];
  for (let nth = 0; nth < servers; nth += 1) {
    progress(`files of 10 MiB, server ${nth + 1} of ${servers}`);
    const [one = 0, ...others] = await withServer(signal, (one) => memoryGrowth(one, signal));
    first.push(one);
    further.push(...others);
  }
  const folder = await temporaryFolder();
  try {
    const server = await startServer(folder.path, signal);
    try {
      const key = Buffer.from(await readFile(join(folder.path, "data/root.key"), "utf8"), "base64");
      const times = await rounds(server, key, { count: measured, signal, progress });
      return {
        definition:
          "A 1 MiB file secret created over HTTP (GraphQL, multipart, to the commit) and resolved by the operation that runs use, medians; floor: AES-256-GCM in Node and one insert, or one select, of the sealed bytes in a bare table of the same database.",
        parameters: { rounds: measured, bytes: MIB, largeBytes: LARGE, servers, uploads: UPLOADS },
        figures: [
          withRatio({
            name: "create, 1 MiB",
            value: median(times.create),
            unit: "ms",
            floor: median(times.bareCreate),
          }),
          withRatio({
            name: "resolve, 1 MiB",
            value: median(times.resolve),
            unit: "ms",
            floor: median(times.bareRead),
          }),
          { name: "resident memory grows by, first 10 MiB (peak, median)", value: median(first), unit: "MiB" },
          { name: "resident memory grows by, further 10 MiB (peak, median)", value: median(further), unit: "MiB" },
        ],
      };
    } finally {
      await server.stop();
    }
  } finally {
    await folder.remove();
  }
};

type Times = Record<"create" | "bareCreate" | "resolve" | "bareRead", number[]>;

type RoundOptions = { readonly count: number; readonly signal: AbortSignal; readonly progress: (text: string) => void };

async function rounds(server: Server, key: Buffer, { count, signal, progress }: RoundOptions): Promise<Times> {
  const client = createClient(server.facts, 1, signal);
  const url = await server.databaseUrl();
  const bare = new Client(url);
  await bare.connect();
  const db = openWithoutLog(url);
  const operations = createSecretOperations(db, createKeyRing(key));
  const actor = systemActorOf(server.facts.accountId);
  const times: Times = { create: [], bareCreate: [], resolve: [], bareRead: [] };
  try {
    await bare.query("create table bare_secrets (id int primary key, sealed bytea not null)");
    for (let nth = -WARM_UP; nth < count; nth += 1) {
      if (nth % 10 === 0) progress(`round ${nth} of ${count}`);
      const bytes = randomBytes(MIB);
      const name = `file_${nth + WARM_UP}`;
      const form = formOf(name, bytes);
      const durations = {
        create: await timed(() => upload(client, server.facts, form)),
        bareCreate: await timed(() =>
          bare.query({
            name: "insert",
            text: "insert into bare_secrets values ($1, $2)",
            values: [nth, seal(key, bytes)],
          }),
        ),
        resolve: await timed(async () => {
          const pieces = await Array.fromAsync((await operations.resolve(actor, ACCOUNT_SCOPE, name)).read());
          if (!Buffer.concat(pieces).equals(bytes)) throw new Error(`${name} resolved to different bytes`);
        }),
        bareRead: await timed(async () => {
          const { rows } = await bare.query<{ sealed: Buffer }>({
            name: "select",
            text: "select sealed from bare_secrets where id = $1",
            values: [nth],
          });
          if (!open(key, rows[0]?.sealed ?? Buffer.alloc(0)).equals(bytes))
            throw new Error("the floor resolved to different bytes");
        }),
      };
      if (nth >= 0) addTimes(times, durations);
    }
    return times;
  } finally {
    client.close();
    await db.close();
    await bare.end();
  }
}

function addTimes(times: Times, durations: Readonly<Record<keyof Times, number>>): void {
  for (const name of Object.keys(times) as (keyof Times)[]) times[name].push(durations[name]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const MUTATION = "mutation ($secret: CreateSecretInput!) { createSecret(input: $secret) { secret { id } } }";

const BOUNDARY = "between-the-parts";

/** The bytes of the request, prepared before the time starts, as for the floor. */
function formOf(name: string, bytes: Buffer): Buffer {
  const variables = { secret: { secretType: "ENCRYPTED_FILE", encryptedFile: { name } } };
  const part = (head: string): string => `--${BOUNDARY}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`;
  const query = `${part('name="query"')}${JSON.stringify({ query: MUTATION, variables })}\r\n`;
  const file = part('name="file"; filename="secret.bin"');
  return Buffer.concat([Buffer.from(query + file), bytes, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

async function upload(client: Sender, { baseUrl, accountId }: Facts, form: Buffer): Promise<void> {
  const address = `${baseUrl}/gateway/api/graphql?accountId=${accountId}`;
  const { body } = await client.exchange("POST", address, `multipart/form-data; boundary=${BOUNDARY}`, form);
  if (!body.includes('"createSecret"') || body.includes('"errors"')) throw new Error(body);
}

function seal(key: Buffer, bytes: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function open(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12)).setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

/**
 * Growth of the server's resident memory in MiB for each upload: the kernel's peak minus the size before. Each
 * measurement needs a new server, because a server keeps freed memory for the next file.
 */
async function memoryGrowth({ facts, pid }: Server, signal: AbortSignal): Promise<number[]> {
  const client = createClient(facts, 1, signal);
  const sizeOf = async (field: "VmRSS" | "VmHWM"): Promise<number> => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  };
  for (let nth = 0; nth < WARM_UP; nth += 1) await upload(client, facts, formOf(`small_${nth}`, randomBytes(1_000)));
  const growth: number[] = [];
  for (let nth = 0; nth < UPLOADS; nth += 1) {
    await writeFile(`/proc/${pid}/clear_refs`, "5");
    const before = await sizeOf("VmRSS");
    await upload(client, facts, formOf(`large_${nth}`, randomBytes(LARGE)));
    growth.push((await sizeOf("VmHWM")) - before);
  }
  client.close();
  return growth;
}
