/**
 * What stands of a large file in memory while it is taken in, opened and sealed anew (decision 0009). All garbage is
 * collected before each look, so that only what is still held counts.
 */
import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import v8 from "node:v8";
import vm from "node:vm";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";
import { adminOf, secretsOf } from "../../../test/support/secrets.ts";
import { createAudit } from "../../audit/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createSecretStorage } from "../index.ts";

const MIB = 1024 * 1024;
const SIZE = 10 * MIB;
/** A page, a piece and its sealed form; and the driver's buffer for a row as text, which doubles until the row fits. */
const ON_THE_WAY = 4 * MIB;
/** A look collects the whole heap. */
const EVERY = 8;
const PIECE = 256 * 1024;
const PIECES = SIZE / PIECE;
const HERE = { orgIdentifier: null, projectIdentifier: null };

v8.setFlagsFromString("--expose-gc");
const gc = vm.runInNewContext("gc") as () => void;

let platform: TestPlatform;
/** Bytes in buffers above what there was before, at each look. */
let held: number[] = [];
let idle = 0;
let pieces = 0;

function inBuffers(): number {
  // What the first one frees is counted as free when it is swept, which the second one waits for.
  gc();
  gc();
  return process.memoryUsage().arrayBuffers;
}

const look = (): void => void held.push(inBuffers() - idle);

/** At a piece that came, is about to be stored, or has been found. */
function pieceSeen(): void {
  pieces += 1;
  if (pieces % EVERY === 0) look();
}

/** What was held at most at one time, and what of it afterwards. */
async function heldBy(work: () => Promise<unknown>): Promise<{ most: number; afterwards: number; seen: number }> {
  idle = inBuffers();
  [held, pieces] = [[], 0];
  await work();
  look();
  return { most: Math.max(...held), afterwards: held.at(-1) ?? 0, seen: pieces };
}

function watched(db: Db): Db {
  const isPiece = (text: string): boolean => text.includes("secret_chunks");
  return {
    ...db,
    query: async (text, values) => {
      const rows = await db.query(text, values);
      if (isPiece(text)) pieceSeen();
      return rows as never;
    },
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query: (text, values) => {
            if (isPiece(text)) pieceSeen();
            return tx.query(text, values);
          },
        }),
      ),
  };
}

before(async () => {
  platform = await startTestPlatform({ maxSecretFile: SIZE, wrapDb: watched });
});
after(() => platform?.stop());

/** A form whose file is sent in pieces, each seen before it leaves. */
function* formOf(query: string, boundary: string): Generator<string | Uint8Array> {
  const piece = randomBytes(PIECE);
  yield `--${boundary}\r\ncontent-disposition: form-data; name="query"\r\n\r\n${query}\r\n`;
  yield `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="k"\r\n\r\n`;
  for (let sent = 0; sent < SIZE; sent += piece.length) {
    pieceSeen();
    yield piece;
  }
  yield `\r\n--${boundary}--\r\n`;
}

/** RFC 9112 section 7.1. */
function* chunked(pieces: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  for (const piece of pieces) yield* [`${piece.length.toString(16)}\r\n`, piece, "\r\n"];
  yield "0\r\n\r\n";
}

async function upload(name: string): Promise<void> {
  const query = "mutation ($secret: CreateSecretInput!) { createSecret(input: $secret) { secret { id } } }";
  const variables = { secret: { secretType: "ENCRYPTED_FILE", encryptedFile: { name } } };
  const head = [
    `POST /gateway/api/graphql?accountId=${platform.accountId} HTTP/1.1`,
    "host: localhost",
    `x-api-key: ${platform.apiKey}`,
    "content-type: multipart/form-data; boundary=between",
    "transfer-encoding: chunked",
  ];
  const form = formOf(JSON.stringify({ query, variables }), "between");
  const { body } = await rawRequest(platform.url, head, chunked(form));
  assert.match(body, /"createSecret":\{"secret":\{"id":"/);
}

test("a file is in memory once while it is received and sealed, and not afterwards", async () => {
  await upload("first");
  const { most, afterwards, seen } = await heldBy(() => upload("second"));
  assert.equal(seen, 2 * PIECES, "pieces that came, and pieces that were stored");
  assert.ok(most >= SIZE, `${most} bytes: the looks did not see the file`);
  assert.ok(most < SIZE + ON_THE_WAY, `${most} bytes`);
  assert.ok(afterwards < ON_THE_WAY, `${afterwards} bytes`);
});

test("an opened file is never in memory as a whole", async () => {
  const secrets = secretsOf(platform, { db: watched(platform.db) });
  const { most, seen } = await heldBy(async () => {
    const { read } = await secrets.resolve(adminOf(platform), HERE, "second");
    let size = 0;
    for await (const piece of read()) size += piece.length;
    assert.equal(size, SIZE);
  });
  assert.equal(seen, PIECES);
  assert.ok(most < ON_THE_WAY, `${most} bytes`);
});

test("a file that is sealed with a new data key is in memory once", async () => {
  const { db, clock, keys } = platform;
  const newId = (): Uuid => randomUUIDv7() as Uuid;
  const audit = createAudit({ clock, newId });
  const keeping = createSecretStorage({ db: watched(db), audit, clock, newId, keys, commands: new Map() });
  const { accountId } = adminOf(platform);
  await secretsOf(platform).delete(adminOf(platform), { by: "identifier", key: { ...HERE, identifier: "first" } });
  const { most, afterwards, seen } = await heldBy(() => Array.fromAsync(keeping.rotateDataKeys(accountId)));
  assert.equal(seen, 2 * PIECES, "pieces that were found, and pieces that were stored");
  assert.ok(most >= SIZE && most < SIZE + ON_THE_WAY, `${most} bytes`);
  assert.ok(afterwards < ON_THE_WAY, `${afterwards} bytes`);
});
