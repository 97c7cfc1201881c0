import assert from "node:assert/strict";
import { test } from "node:test";
import { clientAddress, parseNetwork, trustedBy } from "./client-address.ts";

const isTrusted = trustedBy(["10.0.0.0/8", "192.0.2.7", "fd00::/8"]);
const of = (peer: string | undefined, forwarded?: string): string => clientAddress(peer, forwarded, isTrusted);

test("the header counts only from a trusted peer, and from the right", () => {
  assert.equal(of("203.0.113.9", "198.51.100.1"), "203.0.113.9");
  assert.equal(of("10.0.0.1", "198.51.100.1"), "198.51.100.1");
  assert.equal(of("10.0.0.1", "1.1.1.1, 198.51.100.1"), "198.51.100.1");
  assert.equal(of("10.0.0.1", "1.1.1.1, 198.51.100.1, 192.0.2.7,10.2.3.4"), "198.51.100.1");
  assert.equal(of("fd00::1", "2001:DB8::1"), "2001:db8::1");
  // Listening for both versions, the system tells addresses of version 4 like this.
  assert.equal(of("::ffff:10.0.0.1", "198.51.100.1"), "198.51.100.1");
  assert.equal(of("::ffff:203.0.113.9", "198.51.100.1"), "203.0.113.9");
});

test("ports and zones are left out, and what is no address ends the search at the last known proxy", () => {
  assert.equal(of("10.0.0.1", "198.51.100.1:4711"), "198.51.100.1");
  assert.equal(of("10.0.0.1", "[2001:db8::1]:4711"), "2001:db8::1");
  assert.equal(of("10.0.0.1", "[2001:db8::1]"), "2001:db8::1");
  assert.equal(of("fd00::1%eth0"), "fd00::1");
  for (const claimed of ["unknown", "", "198.51.100.1, ", "198.51.100.1, x'; drop table", "198.51.100.1, 999.1.1.1"])
    assert.equal(of("10.0.0.1", claimed), "10.0.0.1", claimed);
  assert.equal(of("10.0.0.1", "10.0.0.2"), "10.0.0.2");
  assert.equal(of("10.0.0.1"), "10.0.0.1");
  assert.equal(of(undefined, "198.51.100.1"), "");
});

test("without trusted proxies no header counts", () => {
  assert.equal(clientAddress("127.0.0.1", "198.51.100.1", trustedBy([])), "127.0.0.1");
});

test("networks: of both versions, and never of all addresses", () => {
  assert.deepEqual(parseNetwork("10.0.0.0/8"), { address: "10.0.0.0", bits: 8, family: "ipv4" });
  assert.deepEqual(parseNetwork("2001:db8::/32"), { address: "2001:db8::", bits: 32, family: "ipv6" });
  assert.deepEqual(parseNetwork("::1"), { address: "::1", bits: 128, family: "ipv6" });
  for (const wrong of [
    "",
    "10.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/0",
    "::/0",
    "::/129",
    "proxy",
    "10.0.0.1/8/8",
    "fe80::1%eth0",
    "10.0.0.1:80",
  ])
    assert.equal(parseNetwork(wrong), undefined, wrong);
});
