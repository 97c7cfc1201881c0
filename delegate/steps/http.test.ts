/** Requests that the delegate sends itself: result, log, secrets, limits, redirects, cancellation and restart. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { type HttpResult, httpResult, type HttpTask } from "../../protocol/work/http.ts";
import { createCertificate } from "../../test/support/services/token-server.ts";
import { MASK } from "../mask/marks.ts";
import { connectDelegate, createPlace, optionsFor, spawnDelegate, TOKEN } from "../testing/kit.ts";
import { newTaskId, type PretendServer, type PretendTask, startPretendServer } from "../testing/pretend-server.ts";

const targets: Server[] = [];
after(() => {
  for (const target of targets) {
    target.closeAllConnections();
    target.close();
  }
});

type Seen = Pick<IncomingMessage, "method" | "url" | "headers"> & { body: string };

/** A host to send requests to, and the requests that it has received. */
async function startTarget(answer: RequestListener): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const target = createServer((request, response) => {
    const { method, url, headers } = request;
    const received: Seen = { method, url, headers, body: "" };
    request.on("data", (chunk: Buffer) => (received.body += chunk.toString()));
    request.on("end", () => {
      seen.push(received);
      answer(request, response);
    });
  });
  targets.push(target);
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(target.address() as AddressInfo).port}`, seen };
}

type Request = Partial<HttpTask> & Pick<HttpTask, "url">;

/** Sends the task, and before it its secrets. */
function send(server: PretendServer, request: Request, secrets: readonly string[] = []): PretendTask {
  const lease = { task: newTaskId(), epoch: 1 };
  for (const [nth, value] of secrets.entries()) server.sendSecret(lease, nth, "value", value);
  const uses = secrets.map((_, nth) => ({ as: "value" as const, label: `s${nth}` }));
  const task = { method: "GET", headers: [], timeoutMs: 20_000, ...(secrets.length > 0 && { secrets: { uses } }) };
  return server.run({ kind: "http", version: 1, ...task, ...request }, lease);
}

async function resultOf(task: PretendTask): Promise<HttpResult> {
  const { outcome } = await task.finished;
  assert.ok(outcome.kind === "completed" && outcome.version === 1, JSON.stringify(outcome));
  return httpResult.parse(outcome.result);
}

async function onDelegate(play: (server: PretendServer) => Promise<void>): Promise<void> {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place);
  try {
    await play(server);
    // After the acknowledgement nothing is left of the tasks.
    await server.run({ script: ":" }).finished;
    assert.deepEqual(place.tasks().length <= 1, true);
  } finally {
    await delegate.stop();
    await server.close();
    place.remove();
  }
}

test("a request is sent with its secrets, and neither log nor result shows them", () =>
  onDelegate(async (server) => {
    const target = await startTarget((request, response) =>
      response
        .writeHead(201, {
          "content-type": "application/json",
          "x-echo": request.headers.authorization ?? "",
          "set-cookie": "a=b",
        })
        .end(JSON.stringify({ token: request.headers.authorization, id: 7 })),
    );
    const task = send(
      server,
      {
        method: "POST",
        url: [`${target.url}/items?key=`, 1],
        headers: [
          { name: "Authorization", value: ["Bearer ", 0] },
          { name: "Content-Type", value: ["application/json"] },
        ],
        body: ['{"password":"', 1, '"}'],
      },
      ["t0ken-value", "pa55word"],
    );
    const result = await resultOf(task);
    const [seen] = target.seen;
    assert.equal(target.seen.length, 1);
    assert.deepEqual([seen?.method, seen?.url, seen?.body], ["POST", "/items?key=pa55word", '{"password":"pa55word"}']);
    assert.equal(seen?.headers.authorization, "Bearer t0ken-value");
    assert.equal(seen.headers["content-length"], "23");
    assert.ok(result.kind === "response");
    assert.equal(result.status, 201);
    assert.deepEqual(JSON.parse(result.body ?? ""), { token: `Bearer ${MASK}`, id: 7 });
    const headers = new Map(result.headers.map(({ name, value }) => [name, value]));
    assert.equal(headers.get("x-echo"), `Bearer ${MASK}`);
    assert.equal(headers.has("set-cookie"), false);
    const log = task.output().toString();
    assert.match(
      log,
      /^> POST http:\/\/127\.0\.0\.1:\d+\/items\?key=\*+, 23 bytes, headers Authorization, Content-Type$/m,
    );
    assert.match(log, /^< 201 after \d+ ms: application\/json, \d+ bytes$/m);
    for (const secret of ["t0ken-value", "pa55word"]) assert.ok(!log.includes(secret));
  }));

test("a status of failure is a response, a body that is no text is left out, and charsets are decoded", () =>
  onDelegate(async (server) => {
    const answers: Record<string, [number, string, Buffer]> = {
      "/missing": [404, "text/plain", Buffer.from("no such thing")],
      "/image": [200, "image/png", Buffer.from([0x89, 0x50, 0x00, 0xff])],
      "/nul": [200, "text/plain", Buffer.from("a\0b")],
      "/latin": [200, "text/plain; charset=iso-8859-1", Buffer.from([0xe4])],
      "/empty": [204, "text/plain", Buffer.alloc(0)],
    };
    const target = await startTarget((request, response) => {
      const [status = 500, type = "", body] = answers[request.url ?? ""] ?? [];
      response.writeHead(status, { "content-type": type }).end(body);
    });
    const bodies: [number, string | null][] = [];
    for (const path of Object.keys(answers)) {
      const result = await resultOf(send(server, { url: [target.url, path] }));
      assert.ok(result.kind === "response");
      bodies.push([result.status, result.body]);
    }
    assert.deepEqual(bodies, [
      [404, "no such thing"],
      [200, null],
      [200, null],
      [200, "ä"],
      [204, ""],
    ]);
  }));

test("what cannot be sent or answered ends with its reason", () =>
  onDelegate(async (server) => {
    const target = await startTarget((request, response) => {
      if (request.url === "/silent") return;
      if (request.url === "/echo") return void response.end("t0ken\n".repeat(30_000));
      response.end(Buffer.alloc(256 * 1024 + (request.url === "/larger" ? 1 : 0), "x"));
    });
    const { url } = target;
    const large = await resultOf(send(server, { url: [url, "/largest"] }));
    assert.ok(large.kind === "response" && large.body?.length === 256 * 1024);
    const failures: [Request, readonly string[], string, RegExp][] = [
      [{ url: [url, "/larger"] }, [], "responseTooLarge", /more than 256 KiB\. This is the limit of a response's body/],
      // With a mask for each secret the body is larger than it was sent.
      [{ url: [url, "/echo"] }, ["t0ken"], "responseTooLarge", /more than 256 KiB/],
      [{ url: ["http://", 0, ":1/"] }, ["127.0.0.1"], "connection", /^\*{14}:1 refused the connection/],
      [{ url: [url, "/silent"], timeoutMs: 50 }, [], "timeout", /did not answer in time/],
      [{ url: ["http://127.0.0.1:1/"] }, [], "connection", /refused the connection/],
      [{ url: ["file:///etc/passwd"] }, [], "invalid", /no http or https URL/],
      [{ url: ["http://user:", 0, "@127.0.0.1/"] }, ["s3cret"], "invalid", /user name or a password/],
      [
        { url: [url], headers: [{ name: "x-a", value: [0] }] },
        ["a\r\nx-b: 1"],
        "invalid",
        /^The header 'x-a' has a character/,
      ],
      [{ url: [url], headers: [{ name: "Content-Length", value: ["1"] }] }, [], "invalid", /set by the delegate/],
      [{ url: [url], method: "POST", body: ["x".repeat(1024 * 1024 + 1)] }, [], "invalid", /more than 1024 KiB/],
    ];
    for (const [request, secrets, reason, message] of failures) {
      const task = send(server, request, secrets);
      const result = await resultOf(task);
      assert.ok(result.kind === "failure", reason);
      assert.equal(result.reason, reason);
      assert.match(result.message, message);
      assert.match(task.output().toString(), /^Failed after \d+ ms: /m);
      for (const secret of secrets) assert.ok(!JSON.stringify(result).includes(secret));
    }
    assert.deepEqual(
      target.seen.map((one) => one.url),
      ["/largest", "/larger", "/echo", "/silent"],
    );
  }));

test("a certificate that is not trusted ends the request before anything is sent", () =>
  onDelegate(async (server) => {
    const certificate = await createCertificate();
    let requests = 0;
    const files = { key: readFileSync(certificate.key), cert: readFileSync(certificate.certificate) };
    const target = createSecureServer(files, (_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    const { port } = target.address() as AddressInfo;
    const result = await resultOf(send(server, { url: [`https://localhost:${port}/`] }));
    target.close();
    await certificate.remove();
    assert.ok(result.kind === "failure" && result.reason === "tls", JSON.stringify(result));
    assert.equal(requests, 0);
  }));

test("redirects of GET are followed, another host gets no credentials, and other methods are not repeated", () =>
  onDelegate(async (server) => {
    const other = await startTarget((_, response) => response.end("other"));
    const first = await startTarget((request, response) => {
      const places: Record<string, string> = { "/here": "/end", "/there": `${other.url}/end`, "/loop": "/loop" };
      const location = places[request.url ?? ""];
      if (location === undefined) response.end("end");
      else response.writeHead(307, { location }).end("moved");
    });
    const headers = [
      { name: "Authorization", value: ["Basic ", 0] },
      { name: "X-Api-Key", value: [0] },
    ];
    const get = (path: string, more: Partial<HttpTask> = {}) =>
      resultOf(send(server, { url: [first.url, path], headers, ...more }, ["s3cret"]));
    const here = await get("/here");
    assert.ok(here.kind === "response" && here.body === "end");
    assert.equal(first.seen.at(-1)?.headers["x-api-key"], "s3cret");
    const there = await get("/there");
    assert.ok(there.kind === "response" && there.body === "other");
    assert.deepEqual(
      [other.seen[0]?.headers.authorization, other.seen[0]?.headers["x-api-key"]],
      [undefined, undefined],
    );
    const posted = await get("/there", { method: "POST", body: ["x"] });
    assert.ok(posted.kind === "response" && posted.status === 307 && posted.body === "moved");
    assert.equal(other.seen.length, 1);
    const loop = await get("/loop");
    assert.ok(loop.kind === "failure" && loop.reason === "redirect");
    assert.equal(first.seen.filter(({ url }) => url === "/loop").length, 6);
  }));

test("a redirect from https to http is not followed", async () => {
  const certificate = await createCertificate();
  const place = createPlace();
  const server = await startPretendServer();
  const open = await startTarget((_, response) => response.end("open"));
  const files = { key: readFileSync(certificate.key), cert: readFileSync(certificate.certificate) };
  const secure = createSecureServer(files, ({ url }, response) => {
    if (url === "/end") response.end("end");
    else response.writeHead(302, { location: url === "/up" ? "/end" : `${open.url}/end` }).end();
  });
  targets.push(secure);
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const { port } = secure.address() as AddressInfo;
  const options = [...optionsFor(server, place), "--token", TOKEN];
  const delegate = spawnDelegate(options, { NODE_EXTRA_CA_CERTS: certificate.certificate });
  await server.welcomed();
  const get = (path: string) => resultOf(send(server, { url: [`https://localhost:${port}${path}`] }));
  const up = await get("/up");
  assert.ok(up.kind === "response" && up.body === "end", JSON.stringify(up));
  const down = await get("/down");
  assert.ok(down.kind === "failure" && down.reason === "redirect", JSON.stringify(down));
  assert.match(down.message, /redirects from https to http, which is not followed/);
  assert.equal(open.seen.length, 0);
  delegate.child.kill("SIGTERM");
  await delegate.exited;
  await server.close();
  await certificate.remove();
  place.remove();
});

test("a cancelled request is aborted", () =>
  onDelegate(async (server) => {
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const target = await startTarget((_, response) => {
      response.on("close", closed.resolve);
      arrived.resolve();
    });
    const { finished, task, epoch } = send(server, { url: [target.url] });
    await arrived.promise;
    server.send({ kind: "cancel", task, epoch });
    assert.deepEqual((await finished).outcome, { kind: "cancelled", survivors: 0 });
    await closed.promise;
  }));

test("a request during which the delegate is killed is lost, and is not sent again", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const arrived = Promise.withResolvers<void>();
  const target = await startTarget(() => arrived.resolve());
  const options = [...optionsFor(server, place), "--token", TOKEN];
  const first = spawnDelegate(options);
  await server.welcomed();
  const task = send(server, { method: "POST", url: [target.url], body: ["x"] });
  await arrived.promise;
  await first.kill();
  const second = spawnDelegate(options);
  const { outcome } = await task.finished;
  assert.ok(outcome.kind === "lost");
  assert.match(
    outcome.message,
    /^The delegate was restarted during the step\. Whether the step had an effect is not known/,
  );
  assert.match(task.output().toString(), /^> POST /);
  assert.equal(target.seen.length, 1);
  second.child.kill("SIGTERM");
  await second.exited;
  await server.close();
  place.remove();
});

test("a result that the server has not acknowledged survives a restart of the delegate", async () => {
  const place = createPlace();
  let acks = false;
  const server = await startPretendServer({ ackEnds: () => acks });
  const target = await startTarget((_, response) => response.end("once"));
  const first = await connectDelegate(server, place);
  const task = send(server, { url: [target.url] });
  const before = await task.finished;
  await first.stop();
  acks = true;
  const again = server.next((message) => message.kind === "finished");
  const second = await connectDelegate(server, place);
  const message = await again;
  assert.ok(message.kind === "finished");
  assert.deepEqual(message.outcome, before.outcome);
  assert.deepEqual([message.startedAt, message.endedAt], [before.startedAt, before.endedAt]);
  assert.equal(target.seen.length, 1);
  await second.stop();
  await server.close();
  place.remove();
});
