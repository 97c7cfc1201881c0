/** Files of forms: who gets them, when they are refused, and that nothing runs before the form is whole. */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUIDv7 } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { buildSchema, type GraphQLSchema } from "graphql";
import { rawRequest } from "../../../../test/support/clients/raw-http.ts";
import { toWire, type Uuid } from "../../../core/ids.ts";
import { createLog } from "../../log/log.ts";
import { createFormRooms } from "../../http/request/form.ts";
import { createOpenAnswers } from "../../http/response/open-answers.ts";
import { createHttp, type Http } from "../../http/server.ts";
import type { GraphqlContext } from "../builder.ts";
import { addGraphql } from "../endpoint.ts";
import type { TakesFile } from "./uploads.ts";

const MAX_FILE = 300_000;
const accountId = randomUUIDv7() as Uuid;

let http: Http;
let url = "";
/** What resolvers saw of files, in order. */
let seen: string[] = [];
/** The pages that the last resolver got. */
let kept: readonly Buffer[] = [];
beforeEach(() => void (seen = []));

const schema = (): GraphQLSchema => {
  const built = buildSchema(`
    enum Kind { FILE TEXT }
    input In { kind: Kind!, name: String, path: String }
    type Query { ping: String }
    type Mutation { keep(in: In!): String  plain: String }`);
  const takes: TakesFile = ({ in: input }) => (input as { kind: string }).kind === "FILE";
  Object.assign(built.getMutationType()?.getFields()["keep"] ?? {}, { extensions: { upload: takes } });
  return built;
};

const digest = (pages: readonly Uint8Array[]): string =>
  createHash("sha256").update(Buffer.concat(pages)).digest("hex").slice(0, 16);

before(async () => {
  http = await createHttp({
    trustedProxies: [],
    log: createLog("silent"),
    authenticate: async (token) =>
      token === "key" ? { kind: "delegate", accountId, id: accountId, name: "x" } : undefined,
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: () => 0,
    openAnswers: createOpenAnswers(() => 0),
    maxFrame: 1024,
    forms: createFormRooms(MAX_FILE),
    stopping: new AbortController().signal,
  });
  const served = schema();
  const resolve = async (_: unknown, _args: unknown, { file }: GraphqlContext): Promise<string> => {
    // Later than the parse: the bytes have to outlive it.
    await new Promise(setImmediate);
    kept = file?.pages ?? [];
    seen.push(file ? `${file.size} ${digest(file.pages)}` : "none");
    return seen.at(-1) ?? "";
  };
  for (const name of ["keep", "plain"]) Object.assign(served.getMutationType()?.getFields()[name] ?? {}, { resolve });
  addGraphql(http.app, served, {
    trustedProxies: [],
    log: createLog("silent"),
    authenticate: async (token) =>
      token === "key" ? { kind: "delegate", accountId, id: accountId, name: "x" } : undefined,
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: () => 0,
    openAnswers: createOpenAnswers(() => 0),
    maxFrame: 1024,
    forms: createFormRooms(MAX_FILE),
    stopping: new AbortController().signal,
  });
  url = await http.app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => http?.app.close());

type Part = readonly [name: string, value: string | Blob];
const KEEP = "mutation($in: In!){ keep(in: $in) }";
const query = (text = KEEP, variables: unknown = { in: { kind: "FILE" } }): Part => [
  "query",
  JSON.stringify({ query: text, variables }),
];
const file = (bytes: Uint8Array): Part => ["file", new Blob([bytes as Uint8Array<ArrayBuffer>])];

async function form(parts: readonly Part[], headers: Record<string, string> = { "x-api-key": "key" }) {
  const body = new FormData();
  for (const [name, value] of parts) body.append(name, value);
  const response = await fetch(`${url}/gateway/api/graphql?accountId=${toWire(accountId)}`, {
    method: "POST",
    headers,
    body,
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- looked into freely
  return { status: response.status, body: (await response.json()) as any };
}

async function refused(parts: readonly Part[], status: number, message: RegExp, headers?: Record<string, string>) {
  const answer = await form(parts, headers);
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.body.responseMessages[0].message, message);
  assert.deepEqual(seen, [], "nothing ran");
  return answer.body.responseMessages[0];
}

test("a file arrives byte for byte, parts in any order, the credential in the header or as a part", async () => {
  const key: Part = ["x-api-key", "key"];
  for (const size of [0, 1, 1023, 1024, 1025, 65_536, 200_001, MAX_FILE]) {
    const bytes = randomBytes(size);
    const expected = `${size} ${digest([bytes])}`;
    for (const parts of [
      [query(), file(bytes)],
      [file(bytes), query()],
    ])
      assert.deepEqual((await form(parts)).body, { data: { keep: expected } });
    for (const parts of [
      [file(bytes), query(), key],
      [key, query(), file(bytes)],
    ])
      assert.deepEqual((await form(parts, {})).body, { data: { keep: expected } });
  }
});

test("the bytes are gone once the request is answered", async () => {
  await form([query(), file(Buffer.alloc(100_000, "s"))]);
  assert.ok(kept.length > 0);
  assert.ok(kept.every((page) => page.length === 0));
});

test("a file is taken by one field that asks for it with these arguments, else nothing runs", async () => {
  const bytes = file(Buffer.from("x"));
  const none = /This operation takes no file/;
  await refused([query("mutation { plain }", null), bytes], 400, none);
  await refused([query("{ ping }", null), bytes], 400, none);
  await refused([["query", "mutation { plain }"], bytes], 400, none);
  await refused([query(KEEP, { in: { kind: "TEXT" } }), bytes], 400, none);
  await refused([query("mutation { keep(in: {kind: TEXT}) }"), bytes], 400, none);
  await refused([query("mutation($in: In!){ plain keep(in: $in) @skip(if: true) }"), bytes], 400, none);
  await refused([query("mutation($in: In!){ a: keep(in: $in) b: keep(in: $in) }"), bytes], 400, /several fields/);
  const fragment = "mutation($in: In!){ ...F ... on Mutation { ...F } } fragment F on Mutation { x: keep(in: $in) }";
  assert.deepEqual((await form([query(fragment), bytes])).body, { data: { x: `1 ${digest([Buffer.from("x")])}` } });
  seen = [];
  assert.match((await form([query(KEEP, {}), bytes])).body.errors[0].message, /"\$in" of required type/);
  assert.match((await form([query("mutation { nothing }"), bytes])).body.errors[0].message, /nothing/);
  assert.deepEqual(seen, []);
});

test("without a file the same operation gets none", async () => {
  assert.deepEqual((await form([query()])).body, { data: { keep: "none" } });
});

test("two files, two queries, and parts of other names are refused", async () => {
  const bytes = file(Buffer.from("x"));
  await refused([query(), bytes, bytes], 400, /two parts named 'file'/);
  await refused([query(), query(), bytes], 400, /two parts named 'query'/);
  for (const name of ["files", "0", "map", "operations", "File", "__proto__", "constructor"])
    await refused([query(), [name, new Blob(["x"])]], 400, new RegExp(`a part named '${name}'`));
  await refused([bytes], 400, /no GraphQL query/);
});

test("a file that is too large is refused with 402, whether its form says so or not", async () => {
  const tooLarge = await refused([query(), file(randomBytes(MAX_FILE + 1))], 402, /larger than 300000 bytes/);
  assert.equal(tooLarge.code, "FILE_SIZE_EXCEEDS_LIMIT");
  await refused([file(randomBytes(MAX_FILE + 1)), query()], 402, /larger than 300000 bytes/);
  await refused([query(), file(randomBytes(2_000_000))], 402, /larger than 300000 bytes/);
});

test("a stranger's file is refused with 401 and runs nothing", async () => {
  for (const [parts, headers] of [
    [[query(), file(Buffer.from("x"))], {}],
    [[query(), file(Buffer.from("x")), ["x-api-key", "wrong"]], {}],
    [[query(), file(Buffer.from("x"))], { "x-api-key": "wrong" }],
  ] as readonly (readonly [readonly Part[], Record<string, string>])[])
    await refused(parts, 401, /Token is not valid/, headers);
});

const head = (length: number | "chunked"): readonly string[] => [
  `POST /api/graphql?accountId=${toWire(accountId)} HTTP/1.1`,
  "host: x",
  "content-type: multipart/form-data; boundary=b",
  length === "chunked" ? "transfer-encoding: chunked" : `content-length: ${length}`,
];
const partHead = (name: string, more = ""): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n${more}\r\n`;

test("strangers cannot hold more than their room, and give it back when they leave", { timeout: 20_000 }, async () => {
  const port = Number(new URL(url).port);
  const open = async (): Promise<ReturnType<typeof connect>> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(`${head(290_000).join("\r\n")}\r\n\r\n${partHead("file")}${"x".repeat(280_000)}`);
    return socket;
  };
  const small: readonly Part[] = [file(randomBytes(100_000)), query(), ["x-api-key", "key"]];
  const sockets = [await open(), await open()];
  const answers = async (wanted: number): Promise<void> => {
    for (let round = 0; round < 5_000; round += 1) if ((await form(small, {})).status === wanted) return;
    assert.fail(`never ${wanted}`);
  };
  await answers(503);
  assert.equal((await form(small)).status, 200, "who is known has room of their own");
  for (const socket of sockets) socket.destroy();
  await answers(200);
});

test("a form that ends early runs nothing and is answered", async () => {
  const whole = `${partHead("x-api-key")}key\r\n${partHead("query")}${query()[1] as string}\r\n${partHead("file")}xyz\r\n--b--\r\n`;
  const send = (body: string) => rawRequest(url, head(body.length), [body]);
  assert.equal((await send(whole)).status, 200);
  seen = [];
  for (const body of [whole.slice(0, -4), whole.slice(0, -9), whole.slice(0, whole.indexOf("xyz") + 1)])
    assert.equal((await send(body)).status, 400, JSON.stringify(body.slice(-20)));
  assert.deepEqual(seen, []);
});

test("who stops in the middle of a form that is refused gets the answer", { timeout: 20_000 }, async () => {
  for (const start of [`${partHead("files")}x`, `${partHead("query")}{ping}\r\n${partHead("query")}{ping}`]) {
    const { status, head: answered } = await rawRequest(url, head(200_000), [start]);
    assert.equal(status, 400);
    assert.match(answered, /^connection: close$/im);
  }
});

test(
  "a form that says itself that it is too large is refused before any of it comes",
  { timeout: 20_000 },
  async () => {
    const { status, body } = await rawRequest(url, head(50_000_000));
    assert.deepEqual([status, JSON.parse(body).responseMessages[0].code], [402, "FILE_SIZE_EXCEEDS_LIMIT"]);
  },
);

test("part headers without an end, and parts without a name, are cut off", { timeout: 20_000 }, async () => {
  for (const piece of ["x-y: z\r\n", "--b\r\n\r\n\r\n", `--b\r\nx: ${"y".repeat(1_000)}\r\n\r\n\r\n`]) {
    const chunk = piece.repeat(100);
    const chunked = Array<string>(3_000).fill(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    const opening = "5\r\n--b\r\n\r\n";
    const { status, sent } = await rawRequest(url, head("chunked"), [opening, ...chunked]);
    assert.equal(status, 400, piece.slice(0, 10));
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes left`);
  }
});

test("parts in another encoding or character set, and nested forms", async () => {
  const answer = async (queryHead: string, value: string | Buffer): Promise<string> => {
    const pieces = [`${partHead("x-api-key")}key\r\n${partHead("query", queryHead)}`, value, "\r\n--b--\r\n"];
    const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    return (await rawRequest(url, head(body.length), [body])).body;
  };
  assert.match(await answer("content-transfer-encoding: base64\r\n", "e3BpbmddfQ=="), /content-transfer-encoding/);
  assert.match(
    await answer("content-type: text/plain; charset=utf-16le\r\n", Buffer.from("\ufeff{ping}", "utf16le")),
    /not UTF-8/,
  );
  assert.match(await answer("", Buffer.from([0x7b, 0xff, 0x7d])), /not UTF-8/);
  assert.match(await answer("content-type: application/json\r\n", '{"query":"{ping}"}'), /"data":\{"ping":null\}/);
  assert.match(
    await answer("content-type: multipart/mixed; boundary=c\r\n", "--c\r\n\r\n{ping}\r\n--c--"),
    /Syntax Error/,
  );
});

test("a file in parts of ten bytes is held in no more than its size", async () => {
  const bytes = Buffer.alloc(9_000, "y");
  const crumbs = Array.from({ length: bytes.length / 10 }, () => `a\r\n${"y".repeat(10)}\r\n`);
  const around = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  const opening = `${partHead("x-api-key")}key\r\n${partHead("query")}${query()[1] as string}\r\n${partHead("file")}`;
  const pieces = [around(opening), ...crumbs, around("\r\n--b--\r\n"), "0\r\n\r\n"];
  const { status, body } = await rawRequest(url, head("chunked"), pieces);
  assert.equal(status, 200, body);
  assert.deepEqual(JSON.parse(body), { data: { keep: `9000 ${digest([bytes])}` } });
  assert.ok(kept.length < 10, `${kept.length} pages`);
});

test("JSON that looks like an upload is refused, at the top and in variables", async () => {
  const json = async (body: unknown) => {
    const response = await fetch(`${url}/api/graphql?accountId=${toWire(accountId)}`, {
      method: "POST",
      headers: { "x-api-key": "key", "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- looked into freely
    return (await response.json()) as any;
  };
  const pretended = { filepath: "/etc/passwd", mimetype: "text/plain", size: 3, originalFilename: "x" };
  for (const extra of [
    { file: pretended },
    { files: { file: pretended } },
    { path: "/etc/passwd" },
    { variables: { in: { kind: "FILE" }, file: pretended } },
    { variables: { in: { kind: "FILE", file: pretended } } },
    { variables: { in: { kind: "FILE" }, x: [[pretended]] } },
    { variables: { in: { kind: "FILE" }, x: { path: "/etc/passwd", filename: "x" } } },
    { variables: { in: { kind: "FILE" }, x: { tempFilePath: "/etc/passwd" } } },
  ]) {
    const body = await json({ query: KEEP, variables: { in: { kind: "FILE" } }, ...extra });
    assert.match(body.responseMessages?.[0].message ?? "", /only taken from the part 'file'/, JSON.stringify(extra));
  }
  assert.deepEqual(seen, []);
  const deep = `{"query":"{ping}","variables":{"x":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
  assert.deepEqual(await json(deep), { data: { ping: null } });
  const words = { in: { kind: "FILE", path: "a word" }, path: "a word", file: "a word" };
  assert.deepEqual(await json({ query: KEEP, variables: words }), { data: { keep: "none" } });
});
