/**
 * Attack classes 35 and 36: no archive is unpacked, and no name from outside becomes a path. Every route and every
 * parameter gets names of files in all usual spellings.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { isStream } from "../../contract/operations.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { createExamples, samples, type Sample } from "./requests.ts";

/** A file of every machine, and a file of the repository that no route serves. */
const OURS = readFileSync(new URL("../../../package.json", import.meta.url), "utf8").slice(0, 60);
const LEAKED = (text: string): boolean => /root:.*:0:0:|\[boot loader\]/.test(text) || text.includes(OURS);

const UP = 12;
const SPELLINGS = [
  "../".repeat(UP) + "etc/passwd",
  "..%2f".repeat(UP) + "etc%2fpasswd",
  "%2e%2e%2f".repeat(UP) + "etc%2fpasswd",
  "%252e%252e%252f".repeat(UP) + "etc%252fpasswd",
  "..%5c".repeat(UP) + "etc%5cpasswd",
  "....//".repeat(UP) + "etc/passwd",
  "..;/".repeat(UP) + "etc/passwd",
  "..%c0%af".repeat(UP) + "etc%c0%afpasswd",
  "%2fetc%2fpasswd",
  "/etc/passwd",
  "file:%2f%2f%2fetc%2fpasswd",
  "%5c%5clocalhost%5cc$%5cboot.ini",
  "..%2f..%2f..%2fpackage.json",
  "..%2fpackage.json%00.css",
  "package.json",
  `${"a%2f".repeat(400)}passwd`,
] as const;

let platform: TestPlatform;
let all: readonly Sample[];
before(async () => {
  platform = await startTestPlatform();
  all = samples(await createExamples(platform));
});
after(() => platform?.stop());

/** Sends the path unchanged; `fetch` would remove dot segments. */
function raw(path: string): Promise<string> {
  const { hostname, port } = new URL(platform.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    socket.once("error", reject).once("close", () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${platform.apiKey}\r\nconnection: close\r\n\r\n`);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

test("no spelling of a path leads out of the served files", async () => {
  const served = ["/api-docs/", "/graphql-explorer/", "/openapi.json/", "/login/", "/", "/gateway/", "/health/"];
  for (const folder of served)
    for (const spelling of SPELLINGS) {
      const answer = await raw(`${folder}${spelling}`);
      assert.ok(!LEAKED(answer), `${folder}${spelling}`);
      assert.ok([400, 404].includes(statusOf(answer)), `${folder}${spelling}: ${answer.slice(0, 80)}`);
    }
  assert.equal(statusOf(await raw("/api-docs/swagger-ui.css")), 200, "the served file");
});

test("no path parameter of an operation is a path of the server", async () => {
  const account = `accountIdentifier=${platform.accountId}&accountId=${platform.accountId}`;
  let asked = 0;
  for (const { operation, params, query } of all.filter((one) => one.operation.method === "GET")) {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    for (const name of names)
      for (const spelling of SPELLINGS) {
        const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, one: string) =>
          one === name ? spelling : encodeURIComponent(params[one] ?? "x"),
        );
        const rest = new URLSearchParams(query).toString();
        const answer = await raw(`${path}?${rest}&${account}`);
        asked += 1;
        assert.ok(!LEAKED(answer), `${operation.operationId} ${name}=${spelling}`);
        // Checks for free names answer for any name.
        const told = operation.operationId.includes("valid") || operation.operationId.includes("free");
        assert.ok(statusOf(answer) < 500 && (told || statusOf(answer) >= 400), `${path}: ${answer.slice(0, 80)}`);
      }
  }
  assert.ok(asked > 200, `${asked} requests`);
});

/** Event streams do not end, so they are left out. */
const isPlainGet = ({ operation }: Sample): boolean => operation.method === "GET" && !isStream(operation);

test("no query parameter of an operation is a path of the server", async () => {
  for (const { operation, params, query } of all.filter(isPlainGet)) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, one: string) => encodeURIComponent(params[one] ?? "x"));
    for (const { name } of operation.parameters.filter((one) => one.in === "query" && !one.name.startsWith("account")))
      for (const spelling of SPELLINGS.slice(0, 3)) {
        const given = new URLSearchParams({
          ...query,
          accountIdentifier: platform.accountId,
          accountId: platform.accountId,
        });
        given.set(name, decodeURIComponent(spelling));
        const answer = await raw(`${path}?${given.toString()}`);
        assert.ok(!LEAKED(answer), `${operation.operationId} ${name}=${spelling}`);
        assert.ok(statusOf(answer) < 500, `${operation.operationId} ${name}=${spelling}: ${answer.slice(0, 80)}`);
      }
  }
});

test("an archive with hostile entries is stored as the bytes of a secret, under any file name", async () => {
  // A tar entry of type 2 (symbolic link) with a name that leads upwards and a target outside of the folder.
  const header = Buffer.alloc(1_024);
  header.write("../../../../tmp/railhead-slipped", 0);
  header.write("2", 156);
  header.write("/etc/passwd", 157);
  const query = `mutation($secret: CreateSecretInput!) { createSecret(input: $secret) { secret { name } } }`;
  for (const [nth, filename] of [
    "../../../../tmp/railhead-slipped",
    "/tmp/railhead-slipped",
    "a\\..\\b",
    "x.tar",
  ].entries()) {
    const secret = { secretType: "ENCRYPTED_FILE", encryptedFile: { name: `archive-${nth}`, scopedToAccount: true } };
    const form = new FormData();
    form.set("query", JSON.stringify({ query, variables: { secret } }));
    form.set("file", new Blob([header]), filename);
    const answer = await platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, { body: form });
    assert.equal(answer.body.errors, undefined, answer.text);
    assert.equal(answer.body.data.createSecret.secret.name, `archive-${nth}`);
  }
  assert.throws(() => readFileSync("/tmp/railhead-slipped"), /ENOENT/);
  const names = await platform.db.query(
    "select 1 from secrets where name like '%slipped%' or identifier like '%slipped%'",
  );
  assert.deepEqual(names, []);
});
