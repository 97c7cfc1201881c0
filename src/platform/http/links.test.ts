/** A route that a browser may link to answers an attachment, and nothing that a page could show or read. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { createLog } from "../log/log.ts";
import { createFormRooms } from "./request/form.ts";
import { json, text } from "./response/answers.ts";
import { createOpenAnswers } from "./response/open-answers.ts";
import { route, type Answer, type PrivateRoute } from "./routes.ts";
import { createHttp, type Http } from "./server.ts";

const accountId = randomUUIDv7() as Uuid;
const user = {
  actor: { kind: "delegate" as const, accountId, id: randomUUIDv7() as Uuid, name: "d" },
  credential: "session",
};
let http: Http;
let url: string;

const linkTo = (name: string, answer: Answer, method: PrivateRoute["method"] = "GET"): PrivateRoute =>
  route({
    method,
    path: `/${name}`,
    operation: `test.${name}`,
    access: { permission: "a test" },
    isLink: true,
    query: z.object({}),
    doc: "refused",
    handle: async () => answer,
  });

const notLinked = ({ isLink: _, ...rest }: PrivateRoute): PrivateRoute => rest;

before(async () => {
  http = await createHttp({
    trustedProxies: [],
    log: createLog("silent"),
    authenticate: async () => undefined,
    sessionOf: async () => undefined,
    sessionOfLink: async () => user,
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: () => 0,
    openAnswers: createOpenAnswers(() => 0),
    maxFrame: 1024,
    forms: createFormRooms(1024),
    stopping: new AbortController().signal,
  });
  http.add([
    linkTo("file", { ...text("content"), fileName: "a-1.log" }),
    linkTo("page", text("content")),
    linkTo("json", json(200, {})),
    linkTo("change", { ...text("content"), fileName: "a.log" }, "POST"),
    notLinked(linkTo("other", text("content"))),
  ]);
  url = await http.app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => http?.app.close());

const send = (name: string, method = "GET"): Promise<Response> =>
  fetch(`${url}/${name}?accountIdentifier=${toWire(accountId)}`, { method });

test("an attachment is sent with its name, and not cached", async () => {
  const answer = await send("file");
  assert.deepEqual([answer.status, await answer.text()], [200, "content"]);
  assert.equal(answer.headers.get("content-disposition"), 'attachment; filename="a-1.log"');
  assert.equal(answer.headers.get("cache-control"), "no-store");
});

test("a link with another answer or another method is not answered", async () => {
  for (const [name, method] of [["page"], ["json"], ["change", "POST"]] as const)
    assert.equal((await send(name, method)).status, 500, name);
});

test("a link's session is none for other routes", async () => {
  assert.equal((await send("other")).status, 401);
});
