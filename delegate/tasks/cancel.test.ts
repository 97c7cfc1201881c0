import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { assertEnded, createSignal, connectDelegate, createPlace, printedProcess } from "../testing/kit.ts";
import { newTaskId, type PretendTask, startPretendServer } from "../testing/pretend-server.ts";

const place = createPlace();
const server = await startPretendServer();
const delegate = await connectDelegate(server, place);
after(async () => {
  await delegate.stop();
  await server.close();
  place.remove();
});

const cancel = ({ task, epoch }: PretendTask): void => server.send({ kind: "cancel", task, epoch });

/** Ways out, each printing the pid of what tries to escape under its name. */
const escapes: Readonly<Record<string, string>> = {
  child: "sleep inf & echo child=$!",
  session: "setsid bash -c 'echo session=$$; exec sleep inf' &",
  forked: "(setsid bash -c '(echo forked=$BASHPID; exec sleep inf) & exit' &)",
  holder: "(setsid sh -c 'echo holder=$$; while :; do sleep 1; done' &)",
  deaf: "(setsid bash -c 'trap \"\" TERM HUP INT; echo deaf=$$; while :; do sleep 1; done' &)",
  stopped: "(setsid sh -c 'echo stopped=$$; kill -STOP $$; sleep inf' &)",
  nameless: "(env -i setsid bash -c 'echo nameless=$$; exec sleep inf' &)",
  wandering: "(env -i setsid bash -c 'cd /; echo wandering=$$; exec sleep inf' &)",
};
const names = Object.keys(escapes);

test("cancelling terminates every process, also those that left the session", async () => {
  const task = server.run({
    script: `trap '' TERM; ${Object.values(escapes).join("\n")}\necho all; while :; do sleep 1; done`,
  });
  await Promise.all(["all\n", ...names.map((name) => `${name}=`)].map((text) => task.printed(text)));
  const begun = names.map((name) => printedProcess(place, task, name));
  cancel(task);
  const { outcome } = await task.finished;
  assert.deepEqual(outcome, { kind: "cancelled", survivors: 0 });
  for (const [nth, process] of begun.entries()) assertEnded(process, names[nth] ?? "");
});

test("the end of a step terminates all of its processes, too", async () => {
  const task = server.run({
    script: `${Object.values(escapes).join("\n")}\nuntil [ -e go ]; do sleep 0.01; done; exit 4`,
  });
  await Promise.all(names.map((name) => task.printed(`${name}=`)));
  const begun = names.map((name) => printedProcess(place, task, name));
  createSignal(place, task, "go");
  const { outcome } = await task.finished;
  assert.deepEqual(outcome, { kind: "exited", exitCode: 4, outputs: [] });
  for (const [nth, process] of begun.entries()) assertEnded(process, names[nth] ?? "");
});

test("a script can clean up when it is cancelled, and its output then is sent", async () => {
  const task = server.run({ script: "trap 'echo cleaned; exit 0' TERM; echo begun; while :; do sleep 0.01; done" });
  await task.printed("begun");
  cancel(task);
  assert.equal((await task.finished).outcome.kind, "cancelled");
  assert.match(task.output().toString(), /^begun\n(.*\n)*cleaned\n$/);
});

test("cancelling an unknown task is answered", async () => {
  const lease = { task: newTaskId(), epoch: 1 };
  const answer = server.next((message) => message.kind === "finished" && message.task === lease.task);
  server.send({ kind: "cancel", ...lease });
  const message = await answer;
  assert.ok(message.kind === "finished" && message.outcome.kind === "lost");
});

test("a dropped task is terminated and removed without a report", async () => {
  const task = server.run({ script: "echo pid=$$; echo home=$HOME; sleep inf" });
  await task.printed("home=");
  const [, home = ""] = /^home=(.*)$/m.exec(task.output().toString()) ?? [];
  assert.ok(existsSync(home));
  const script = printedProcess(place, task, "pid");
  let reported = false;
  void task.finished.then(() => (reported = true));
  server.send({ kind: "drop", task: task.task, epoch: task.epoch });
  // A connection made later names what is held: nothing, once the task is gone.
  while (existsSync(home)) await server.run({ script: ":" }).finished;
  assertEnded(script, "the script");
  assert.equal(reported, false);
});
