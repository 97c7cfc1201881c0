/** How forms are read. What a client sees of them is tested in the GraphQL and secrets tests. */
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createRoom } from "./file-pages.ts";
import { readForm } from "./form.ts";

const MIB = 1024 * 1024;
const headers = { "content-type": "multipart/form-data; boundary=a" };

/** A request whose body has arrived, in pieces of 7,000 bytes. */
function requestOf(body: Buffer): IncomingMessage {
  const raw = new PassThrough({ highWaterMark: 2 * MIB });
  for (let at = 0; at < body.length; at += 7000) raw.write(body.subarray(at, at + 7000));
  raw.end();
  return Object.assign(raw, { headers, complete: true }) as unknown as IncomingMessage;
}

const limits = { texts: {}, maxFile: MIB, room: createRoom(2, MIB) };

test("a form whose pieces all arrive before the first part is read", async () => {
  const file = Buffer.alloc(MIB, "x");
  const head = '--a\r\ncontent-disposition: form-data; name="file"\r\n\r\n';
  const raw = requestOf(Buffer.concat([Buffer.from(head), file, Buffer.from("\r\n--a--\r\n")]));
  const form = await readForm({ raw }, limits);
  assert.equal(form.file?.size, MIB);
  form.release();
});

test("bytes around the parts of a form are bounded", async () => {
  const raw = requestOf(Buffer.alloc(MIB, "x"));
  await assert.rejects(readForm({ raw }, limits), { code: "http.bad_form" });
});
