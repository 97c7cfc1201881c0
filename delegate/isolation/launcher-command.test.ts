import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { createPlace } from "../testing/kit.ts";
import { launcherCommand } from "./isolation.ts";

const place = createPlace();
after(place.remove);

const isolation = {
  setpriv: "/usr/bin/setpriv",
  unshare: "/usr/bin/unshare",
  mayGainPrivileges: false,
  namespaces: undefined,
};
let lastId = 7;
const released: number[] = [];
const user = {
  name: "railhead-step",
  names: undefined,
  fullFolder: undefined,
  isUnused: () => false,
  isOurs: () => false,
  allocateLauncherId: () => (lastId += 1),
  separation: "own users",
  allocate: () => undefined,
  reserve: () => {},
  release: ({ uid }: { readonly uid: number }) => void released.push(uid),
} as const;

test("the users of steps are listed and written only when the machine's users have changed", () => {
  const sources = [join(place.path, "passwd"), join(place.path, "group")] as const;
  for (const source of sources) writeFileSync(source, "root:x:0:0::/root:/bin/sh\n");
  let lists = 0;
  const users = () => {
    lists += 1;
    return [{ name: "railhead-step-0", id: 7_000, home: "/home" }];
  };
  const database = () => ({ folder: join(place.path, "users"), sources, users, shell: "/bin/bash" });
  const command = launcherCommand(isolation, { user, database, queues: () => undefined });
  const first = command();
  assert.equal(command().version, first.version);
  assert.equal(lists, 1);
  writeFileSync(sources[0], "root:x:0:0::/root:/bin/sh\nada:x:1:1::/:/bin/sh\n");
  assert.notEqual(command().version, first.version);
  assert.equal(lists, 2);
  assert.match(readFileSync(join(place.path, "users", "passwd"), "utf8"), /^ada:.*\nrailhead-step-0:x:7000:7000:/m);
});

test("each launcher has a real user of its own: one that ends a step's user would also end others with its own", () => {
  const command = launcherCommand(isolation, { user, database: () => undefined, queues: () => undefined })();
  const [one, other] = [command.allocate(), command.allocate()];
  const ids = [one, other].map(({ argv }) => Number(argv[argv.indexOf("--ruid") + 1]));
  assert.equal(new Set(ids).size, 2);
  other.release();
  assert.deepEqual(released, ids.slice(1));
});
