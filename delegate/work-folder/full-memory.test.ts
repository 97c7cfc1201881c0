/** A delegate that starts while other users have filled memory keeps no secret on the disk: real small file systems. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, optionsFor, TOKEN } from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};
const MOUNT =
  "for path in /run /dev/shm; do mount -t tmpfs -o size=16m,nr_inodes=300,mode=1777 railhead-test $path; done";
const FILL =
  "for path in /run /dev/shm; do mkdir $path/fill; n=0; while : >$path/fill/$n; do n=$((n + 1)); done; done 2>/dev/null";

test(
  "a delegate that starts while memory is full takes no task until there is space, and uses no disk",
  onlyAsRoot,
  async (t) => {
    const place = createPlace();
    const server = await startPretendServer();
    const holder = spawn("/usr/bin/unshare", [
      "--mount",
      "/bin/bash",
      "-c",
      `${MOUNT}; ${FILL}; echo full; exec sleep inf`,
    ]);
    const enter = `--mount=/proc/${holder.pid}/ns/mnt`;
    const [text] = (await Promise.race([once(holder.stdout, "data"), once(holder, "exit")])) as [unknown];
    assert.equal(String(text), "full\n");
    const args = [enter, process.execPath, MAIN, ...optionsFor(server, place), "--token", TOKEN];
    const child = spawn("/usr/bin/nsenter", args, { stdio: ["pipe", "ignore", "ignore"] });
    const ended = once(child, "exit");
    t.after(async () => {
      child.kill("SIGKILL");
      await ended;
      holder.kill("SIGKILL");
      await server.close();
      place.remove();
    });
    const inside = (path: string): string => `/proc/${holder.pid}/root${path}`;
    const runtimeFolders = (): readonly string[] =>
      ["/run", "/dev/shm"].flatMap((path) => readdirSync(inside(path)).filter((name) => name.startsWith("railhead-")));
    const runWithSecret = () => {
      const lease = { task: newTaskId(), epoch: 1 };
      server.sendSecret(lease, 0, "file", "word of a secret");
      const uses = [{ as: "file" as const, label: "account.word" }];
      const secrets = { uses, env: [{ name: "FILE", parts: [0] }] };
      return server.run({ script: 'echo "${FILE%/*/*/*}"; cat "$FILE"', secrets }, lease);
    };

    await server.welcomed();
    assert.match(
      server.hellos.at(-1)?.unavailable ?? "",
      /^is short of disk space: .*railhead-.* cannot be used: ENOSPC/,
    );
    const returned = server.next((message) => message.kind === "returned");
    runWithSecret();
    await returned;
    assert.equal(existsSync(join(place.path, "secrets")), false);
    assert.deepEqual(runtimeFolders(), []);

    const available = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
    assert.equal(spawnSync("/usr/bin/nsenter", [enter, "rm", "-r", "/run/fill", "/dev/shm/fill"]).status, 0);
    await available;
    const task = runWithSecret();
    const { outcome } = await task.finished;
    assert.deepEqual(outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.match(task.output().toString(), /^\/dev\/shm\/railhead-[0-9a-f]{32}\n\*+/);
    assert.equal(existsSync(join(place.path, "secrets")), false);
    child.kill("SIGTERM");
    await ended;
    assert.deepEqual(runtimeFolders(), []);
  },
);
