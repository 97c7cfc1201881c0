import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { onClosed, readToken } from "./token.ts";

test("a token file may end with a newline", async () => {
  const folder = mkdtempSync(join(tmpdir(), "railhead-token-"));
  const path = join(folder, "token");
  writeFileSync(path, "secret-1\n");
  assert.equal(await readToken({ kind: "file", path }, new PassThrough()), "secret-1");
  await assert.rejects(
    readToken({ kind: "file", path: join(folder, "none") }, new PassThrough()),
    /--token-file cannot be read/,
  );
  rmSync(folder, { recursive: true });
});

test("the first line of standard input is the token, its end comes later", async () => {
  const stdin = new PassThrough();
  const token = readToken({ kind: "stdin" }, stdin);
  stdin.write("sec");
  stdin.write("ret-2\nmore");
  assert.equal(await token, "secret-2");
  const gone = Promise.withResolvers<string>();
  onClosed(stdin, () => gone.resolve("gone"));
  stdin.end();
  assert.equal(await gone.promise, "gone");
});

test("an end of input together with the token is reported, too", async () => {
  const stdin = new PassThrough();
  const token = readToken({ kind: "stdin" }, stdin);
  stdin.end("secret-3");
  assert.equal(await token, "secret-3");
  const gone = Promise.withResolvers<string>();
  onClosed(stdin, () => gone.resolve("gone"));
  assert.equal(await gone.promise, "gone");
});

test("a token that no header can carry is refused without being shown", async () => {
  for (const token of ["", "  ", "a b", "a\u0001", "ü", "x".repeat(1025)])
    await assert.rejects(
      readToken({ kind: "given", token }, new PassThrough()),
      (error) =>
        error instanceof Error &&
        /holds no token/.test(error.message) &&
        (token.trim() === "" || !error.message.includes(token)),
    );
});
