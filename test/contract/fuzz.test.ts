/**
 * Sends every operation valid and invalid requests made from its schema. Additions to the document or to the GraphQL
 * schema are covered automatically. See docs/how-to/fuzz.md.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { YAML } from "../support/contract.ts";
import { fuzzRound } from "./fuzz.ts";
import { MARK, openArena } from "./fuzz/ground.ts";
import { send, type Sent } from "./fuzz/send.ts";
import { judge } from "./fuzz/verdict.ts";
import { operationsOf, readDocument } from "./operations.ts";
import { answerChecker } from "./shapes.ts";

/** Small enough for a busy machine and the time limit of a test. */
const ROUND = 500;
const total = Number(process.env["FUZZ_REQUESTS"] ?? 1_000);
const first = Number(process.env["FUZZ_SEED"] ?? 1);
const only = process.env["FUZZ_ONLY"] ?? "";

for (let done = 0, seed = first; done < total; done += ROUND, seed += 1) {
  const requests = Math.min(ROUND, total - done);
  test(`${requests} requests, FUZZ_SEED=${seed}`, async (t) => {
    const round = await fuzzRound(seed, requests, only);
    assert.equal(round.requests, requests);
    for (const [operation, classes] of round.counts)
      t.diagnostic(
        `${operation} ${[...classes]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, count]) => `${name}:${count}`)
          .join(" ")}`,
      );
    assert.equal(round.failures.length, 0, round.failures.join("\n\n"));
  });
}

test("a forbidden response and forbidden effects are found", async () => {
  const arena = await openArena();
  try {
    const { platform, ground, agent, foreignUuid } = arena;
    const document = readDocument();
    const operation = operationsOf(document).find(({ operationId }) => operationId === "organization.create");
    assert.ok(operation);
    const sent: Sent = {
      method: "POST",
      target: `/ng/api/organizations?accountIdentifier=${ground.accountId}`,
      headers: [
        ["x-api-key", ground.apiKey],
        ["content-type", YAML],
      ],
      body: Buffer.from("organization: { identifier: seen, name: Seen }"),
    };
    const made = await send(platform.url, sent, agent);
    assert.equal(made.status, 200, made.text);
    const refused = await send(platform.url, sent, agent);
    assert.equal(refused.status, 400, refused.text);
    const verdict = (answer = made): Promise<void> =>
      judge(arena, answerChecker(document), { operation, sent, answer });
    await verdict();
    await verdict(refused);
    const touch = (whose: string): Promise<unknown> =>
      platform.db.query(
        `update organizations set description = description || 'x' where (account_id = $1) = ${whose}`,
        [foreignUuid],
      );
    await touch("false");
    await assert.rejects(verdict(refused), /written, and answered/);
    await touch("true");
    await assert.rejects(verdict(), /another account has changed/);
    await assert.rejects(verdict({ ...made, text: `${made.text}${MARK}` }), /shows what belongs to another account/);
    await assert.rejects(verdict({ ...made, text: `${made.text}${ground.hidden[0]}` }), /shows ids of another account/);
    await assert.rejects(verdict({ ...refused, status: 500 }), /500/);
    await assert.rejects(verdict({ ...made, body: { status: "SUCCESS" } }), /required property/);
    arena.log.to.write('{"level":50,"msg":"broken"}\n');
    await assert.rejects(verdict(), /the log has an error/);
    await verdict();
  } finally {
    await arena.stop();
  }
});
