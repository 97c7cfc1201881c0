import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createPlace, silentLog } from "../testing/kit.ts";
import { createKnownHosts } from "./known-hosts.ts";

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4v6cTlRWyJ1Vbj1k0Zs1ZsVYh9S2c5mU0bQqk1c1eA";
const OTHER = KEY.replace("IJ4v", "IJ4w");

function scene(t: TestContext) {
  const place = createPlace();
  t.after(place.remove);
  const [own, copy] = [join(place.path, "known_hosts"), join(place.path, "copy")];
  const hosts = createKnownHosts(undefined, own, silentLog());
  const learn = (text: string, host = "Web1.example", port = 22): string => {
    writeFileSync(copy, text);
    hosts.adoptKeys(copy, { host, port });
    return existsSync(own) ? readFileSync(own, "utf8") : "";
  };
  return { hosts, own, copy, learn };
}

test("a key that ssh has added for its host is kept, once, and belongs to the delegate alone", (t) => {
  const { hosts, own, learn } = scene(t);
  assert.deepEqual(hosts.copy(), { text: "", strict: false });
  const line = `web1.example ${KEY}\n`;
  assert.equal(learn(line), line);
  assert.equal(learn(line), line);
  assert.equal(statSync(own).mode & 0o777, 0o600);
  assert.deepEqual(hosts.copy(), { text: line, strict: false });
  assert.equal(learn(`${line}[10.0.0.1]:2222 ${KEY}\n`, "10.0.0.1", 2222), `${line}[10.0.0.1]:2222 ${KEY}\n`);
});

test("other content of the step's copy is not adopted", (t) => {
  const { own, copy, hosts, learn } = scene(t);
  for (const line of [
    `other.example ${KEY}`,
    `web2.example ${KEY}`,
    `* ${KEY}`,
    `@cert-authority web1.example ${KEY}`,
    `web1.example,other.example ${KEY}`,
    `web1.example ${KEY} @cert-authority * ${KEY}`,
    "web1.example nonsense",
    `[web1.example]:2222 ${KEY}`,
  ])
    assert.equal(learn(`${line}\n`), "", line);
  const first = learn(`web1.example ${KEY}\n`);
  assert.equal(learn(`web1.example ${KEY}\nweb1.example ${OTHER}\n`), first, "a second key of a known host");
  rmSync(copy);
  symlinkSync(own, copy);
  hosts.adoptKeys(copy, { host: "web1.example", port: 22 });
  rmSync(copy);
  hosts.adoptKeys(copy, { host: "web1.example", port: 22 });
  assert.equal(readFileSync(own, "utf8"), first);
});

test("a pipe or a link in place of the delegate's file is not waited for, and counts as missing", (t) => {
  const { hosts, own, copy } = scene(t);
  writeFileSync(copy, `web1.example ${KEY}\n`);
  writeFileSync(`${own}.else`, "");
  for (const make of [() => execFileSync("/usr/bin/mkfifo", [own]), () => symlinkSync(`${own}.else`, own)]) {
    make();
    assert.deepEqual(hosts.copy(), { text: "", strict: false });
    hosts.adoptKeys(copy, { host: "web1.example", port: 22 });
    rmSync(own);
  }
  assert.equal(readFileSync(`${own}.else`, "utf8"), "");
});

test("an operator's file is the only truth, read for each step, and never written", (t) => {
  const { own, copy } = scene(t);
  const file = `${own}.operator`;
  writeFileSync(file, "a\n");
  const hosts = createKnownHosts(file, own, silentLog());
  assert.deepEqual(hosts.copy(), { text: "a\n", strict: true });
  writeFileSync(copy, `web1.example ${KEY}\n`);
  hosts.adoptKeys(copy, { host: "web1.example", port: 22 });
  assert.ok(!existsSync(own));
  assert.equal(readFileSync(file, "utf8"), "a\n");
  rmSync(file);
  assert.throws(() => hosts.copy(), { code: "ENOENT" });
});
