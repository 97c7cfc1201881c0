/**
 * Which delegate may take a work folder: each case with processes of its own, which hold the locks of real folders.
 * A copy is refused while a delegate of the same identity runs; every other start succeeds.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { baseFolder } from "../testing/base-folder.ts";
import { createPlace } from "../testing/kit.ts";

const MODULE = JSON.stringify(new URL("claim.ts", import.meta.url).href);
/** Claims the folder and keeps it until its input ends; prints how that went. Arguments: folder, registry. */
const CLAIM = `const { claimWorkFolder } = await import(${MODULE});
const [path, registry] = process.argv.slice(1);
try {
  const log = { warn: () => {} };
  const { secrets, release } = await claimWorkFolder({ path, registry, isNamed: true }, { chance: () => 0, log });
  console.log("claimed " + secrets.path);
  process.stdin.on("end", () => release().then(() => process.exit(0))).resume();
} catch (error) { console.log("refused " + error.message); process.exit(1); }`;

/** Before the program: other name spaces, as a container has, or a machine without a file system in memory. */
type Where = { readonly command?: readonly string[]; readonly uid?: number };

type Claimant = {
  /** As printed. */
  readonly answer: string;
  /** As a delegate that is asked to stop. */
  readonly stop: () => Promise<void>;
  /** As kill -9. */
  readonly kill: () => Promise<void>;
};

class World {
  readonly place = createPlace();
  readonly registry = join(this.place.path, "registry", "ids");
  readonly #children: ChildProcess[] = [];

  path(name: string): string {
    return join(this.place.path, name);
  }

  async start(name: string, { command = [], uid }: Where = {}): Promise<Claimant> {
    const argv = [...command, process.execPath, "--input-type=module", "-e", CLAIM, this.path(name), this.registry];
    const ids = uid === undefined ? {} : { uid, gid: uid };
    const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["pipe", "pipe", "inherit"], cwd: "/", ...ids });
    this.#children.push(child);
    const ended = once(child, "exit");
    const [answer] = await Promise.race([
      once(createInterface({ input: child.stdout ?? assert.fail() }), "line"),
      ended.then(() => ["ended without an answer"]),
    ]);
    const over = async (): Promise<void> => void (await ended);
    return {
      answer: String(answer),
      stop: () => (child.stdin?.end(), over()),
      kill: () => (child.kill("SIGKILL"), over()),
    };
  }

  async starts(name: string, where?: Where): Promise<Claimant> {
    const one = await this.start(name, where);
    assert.match(one.answer, /^claimed /, name);
    return one;
  }

  async assertRefused(
    name: string,
    why = /^refused another delegate with the same identity is running/,
    where?: Where,
  ) {
    assert.match((await this.start(name, where)).answer, why, name);
  }

  copy(from: string, to: string): void {
    cpSync(this.path(from), this.path(to), { recursive: true, preserveTimestamps: true });
  }

  async end(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const folders = [this.place.path, ...this.memory];
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }

  /** Folders of the identities, to be removed at the end. */
  readonly memory: string[] = [];
}

const memoryIn = ({ answer }: Claimant): string => answer.replace("claimed ", "");

type Case = {
  readonly name: string;
  readonly needs?: "root";
  readonly play: (world: World, original: Claimant) => Promise<unknown>;
};

const CONTAINER = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** At the beginning of each a delegate runs on the folder `work`. */
const CASES: readonly Case[] = [
  {
    name: "a restart in place",
    play: async (world, original) => {
      await original.stop();
      assert.equal(existsSync(memoryIn(original)), false);
      await world.starts("work");
    },
  },
  {
    name: "a restart after kill -9",
    play: async (world, original) => {
      await original.kill();
      await world.starts("work");
    },
  },
  {
    name: "a folder that was moved while no delegate ran",
    play: async (world, original) => {
      await original.kill();
      renameSync(world.path("work"), world.path("moved"));
      await world.starts("moved");
    },
  },
  {
    name: "a folder that was moved, and a link to it or another folder in its place",
    play: async (world, original) => {
      await original.stop();
      renameSync(world.path("work"), world.path("moved"));
      symlinkSync(world.path("moved"), world.path("work"));
      const linked = await world.starts("work");
      await world.assertRefused("moved", /^refused another delegate is running on the work folder/);
      await linked.stop();
      rmSync(world.path("work"));
      mkdirSync(world.path("work"));
      await world.starts("work");
      await world.starts("moved");
    },
  },
  {
    name: "a folder that was moved while its delegate runs, and a copy in its place",
    play: async (world, original) => {
      renameSync(world.path("work"), world.path("moved"));
      world.copy("moved", "work");
      await world.assertRefused("work");
      await world.assertRefused("moved", /^refused another delegate is running on the work folder/);
      await original.stop();
      await world.starts("work");
      await world.assertRefused("moved");
    },
  },
  {
    name: "a copy beside the running original, with a registry that is damaged, empty or not there",
    play: async (world, original) => {
      world.copy("work", "copy");
      const before = existsSync(world.registry) ? readFileSync(world.registry) : undefined;
      await world.assertRefused("copy");
      if (before) assert.deepEqual(readFileSync(world.registry), before);
      mkdirSync(join(world.registry, ".."), { recursive: true });
      for (const content of ["no database ".repeat(100), "", undefined]) {
        rmSync(world.registry, { force: true });
        if (content !== undefined) writeFileSync(world.registry, content);
        await world.assertRefused("copy");
      }
      await original.kill();
      await world.starts("copy");
    },
  },
  {
    name: "a copy that starts after the end of the original, and then the original",
    play: async (world, original) => {
      world.copy("work", "copy");
      await original.stop();
      const copy = await world.starts("copy");
      await world.assertRefused("work");
      await copy.kill();
      await world.starts("work");
    },
  },
  {
    name: "a copy without the file identity",
    play: async (world) => {
      world.copy("work", "copy");
      rmSync(join(world.path("copy"), "identity"));
      world.memory.push(memoryIn(await world.starts("copy")));
    },
  },
  {
    name: "a note of a process whose number another process has now, and a restart of the machine",
    play: async (world, original) => {
      await original.kill();
      // A process that is alive: this one.
      writeFileSync(join(memoryIn(original), "work-folder"), `/elsewhere\n${process.pid}\nword\n`);
      const again = await world.starts("work");
      await again.kill();
      rmSync(memoryIn(original), { recursive: true });
      await world.starts("work");
    },
  },
  {
    name: "two delegates on one folder, and two on copies of it, at one time",
    play: async (world, original) => {
      await original.stop();
      world.copy("work", "copy");
      for (const names of [
        ["work", "work"],
        ["work", "copy"],
      ] as const) {
        const both = await Promise.all(names.map((name) => world.start(name)));
        const words = both.map(({ answer }) => answer.split(" ")[0]);
        assert.deepEqual(new Set(words), new Set(["claimed", "refused"]), names.join(" and "));
        for (const one of both) await one.stop();
      }
    },
  },
  {
    name: "a container that restarts with the same volume, and one that runs beside it",
    needs: "root",
    play: async (world, original) => {
      await original.stop();
      const container = await world.starts("work", { command: CONTAINER });
      world.copy("work", "copy");
      await world.assertRefused("work", /^refused another delegate is running on the work folder/, {
        command: CONTAINER,
      });
      await world.assertRefused("copy", undefined, { command: CONTAINER });
      await world.assertRefused("copy");
      await container.kill();
      const next = await world.starts("work", { command: CONTAINER });
      await next.kill();
      await world.starts("work");
    },
  },
  {
    name: "an ordinary user where no file system is in memory",
    needs: "root",
    play: async (world) => {
      const uid = 0x6f00_0000 + process.pid;
      const disk = join(baseFolder(), `railhead-disk-${process.pid}`);
      mkdirSync(disk);
      world.memory.push(disk);
      mkdirSync(world.path("home"));
      for (const folder of [world.path("home"), disk]) chownSync(folder, uid, uid);
      const hide = 'mount --bind "$0" /dev/shm && mount --bind "$0" /run && exec "$@"';
      const drop = ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--"];
      const command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", hide, disk, ...drop];
      const first = await world.starts("home/work", { command });
      assert.equal(memoryIn(first), world.path("home/work/secrets"));
      world.copy("home/work", "home/copy");
      chownAll(world.path("home/copy"), uid);
      await world.assertRefused("home/copy", undefined, { command });
      await first.kill();
      const copy = await world.starts("home/copy", { command });
      await copy.stop();
      const again = await world.starts("home/work", { command });
      await again.stop();
    },
  },
];

function chownAll(folder: string, uid: number): void {
  for (const name of [".", "identity", "lock", "tasks", "spare", "secrets"])
    if (existsSync(join(folder, name))) chownSync(join(folder, name), uid, uid);
}

const isRoot = process.getuid?.() === 0;

for (const { name, needs, play } of CASES)
  test(`the claim of a work folder: ${name}`, { skip: needs && !isRoot ? "needs root" : false }, async () => {
    const world = new World();
    chmodSync(world.place.path, 0o755);
    try {
      const original = await world.starts("work");
      world.memory.push(memoryIn(original));
      await play(world, original);
    } finally {
      await world.end();
    }
  });
