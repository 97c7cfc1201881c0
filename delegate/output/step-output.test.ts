/** Steps that print more than is kept of them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, createSignalFolder, optionsFor, spawnDelegate, TOKEN } from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";

const LINE = "railhead: The output of this step exceeded 64 KiB. The rest is not in the log.\n";
/** Of a line that goes on beyond it, as much again is kept. */
const KEPT = 64 * 1024;

test("beyond the limit output is dropped and the log says so; the step goes on, also with another delegate", async (t) => {
  const { path: signs, remove } = createSignalFolder();
  const place = createPlace();
  const server = await startPretendServer();
  const start = () => spawnDelegate([...optionsFor(server, place), "--max-step-output", "64KiB", "--token", TOKEN]);
  const begun = [start()];
  t.after(async () => {
    for (const { kill } of begun) await kill();
    await server.close();
    place.remove();
    remove();
  });
  await server.welcomed();
  const wait = (name: string): string => `until [ -e "${signs}/${name}" ]; do sleep 0.02; done`;
  const over = server.run({
    script: `seq -f %05.0f 1 5000; ${wait("go")}; seq -f %05.0f 5001 30000; X=done; echo end`,
    outputs: [{ name: "x", variable: "X" }],
  });
  const failing = server.run({ script: "head -c 1000000 /dev/zero | tr '\\0' x; exit 7" });
  const exact = server.run({ script: `head -c ${KEPT} /dev/zero | tr '\\0' y` });
  const lease = { task: newTaskId(), epoch: 1 };
  server.sendSecret(lease, 0, "value", "correct horse battery");
  const secret = server.run(
    {
      script: 'for i in {1..9000}; do echo "$S"; done',
      secrets: { uses: [{ as: "value", label: "s" }], env: [{ name: "S", parts: [0] }] },
    },
    lease,
  );
  assert.deepEqual((await failing.finished).outcome, { kind: "exited", exitCode: 7, outputs: [] });
  assert.equal(failing.output().toString(), `${"x".repeat(2 * KEPT)}\n${LINE}`);
  assert.deepEqual((await exact.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
  assert.equal(exact.output().toString(), "y".repeat(KEPT));
  await secret.finished;
  assert.match(secret.output().toString(), /^(\*+\n)+railhead: .* exceeded 64 KiB\. .*\n$/);

  await over.printed("05000\n");
  await begun[0]?.kill();
  const welcome = server.nextWelcome();
  begun.push(start());
  await welcome;
  writeFileSync(join(signs, "go"), "");
  assert.deepEqual((await over.finished).outcome, {
    kind: "exited",
    exitCode: 0,
    outputs: [{ name: "x", value: "done" }],
  });
  const lines = Array.from({ length: Math.ceil(KEPT / 6) }, (_, n) => `${String(n + 1).padStart(5, "0")}\n`).join("");
  assert.ok(over.output().equals(Buffer.from(lines + LINE)), over.output().toString("utf8", KEPT - 100));
});

test("a secret that the limit cuts off is masked, as by other lines that follow the output", async (t) => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = spawnDelegate([...optionsFor(server, place), "--max-step-output", "4096", "--token", TOKEN]);
  t.after(async () => {
    await delegate.kill();
    await server.close();
    place.remove();
  });
  await server.welcomed();
  const value = "Zk9-wQ4xT7_pL2mB8vN3rY6c";
  const run = async (script: string, outputs: { name: string; variable: string }[] = []): Promise<string> => {
    const lease = { task: newTaskId(), epoch: 1 };
    server.sendSecret(lease, 0, "value", value);
    const secrets = { uses: [{ as: "value" as const, label: "s" }], env: [{ name: "S", parts: [0] }] };
    const task = server.run({ script, secrets, outputs }, lease);
    await task.finished;
    return task.output().toString();
  };
  for (const show of ["fold -w 23", "xxd", "hexdump -C"]) {
    const text = await run(`head -c 4079 /dev/zero | tr '\\0' x; echo; printf %s "$S" | ${show}`);
    assert.match(
      text,
      /^x+\n\*+\n?railhead: The output of this step exceeded 4 KiB\. The rest is not in the log\.\n$/,
      show,
    );
  }
  const large = "X=$(head -c 600000 /dev/zero | tr '\\0' y)";
  const text = await run(`printf %s "\${S:0:23}"; ${large}`, [{ name: "x", variable: "X" }]);
  assert.match(text, /^\*+\n?railhead: the output variables are over 512 KB; none was taken, the step fails\n$/);
  // Printed by a step the line ends what was begun as well, and nothing else is lost.
  const own = await run(
    `printf '%s\\n' "\${S:0:12}"; echo "railhead: The output of this step exceeded all"; echo "$S"; echo end`,
  );
  assert.match(own, /^\*+\n?railhead: The output of this step exceeded all\n\*+\nend\n$/);
});
