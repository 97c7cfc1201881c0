/** What a server connects to when its users choose the address. */
import assert from "node:assert/strict";
import type { lookup } from "node:dns";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as secureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createCertificate, type Certificate } from "../../../test/support/services/token-server.ts";
import { outgoingGet } from "./get.ts";
import { parseAllowedTarget, allowPublicAddresses } from "./reach.ts";
import type { Unreached } from "./unreached.ts";

const judge = (address: string, allowed: readonly string[] = [], host = address, port = 80): boolean =>
  allowPublicAddresses(allowed)({ host, address, port });

test("public addresses may be reached, inner ones of either version may not", () => {
  for (const address of ["8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "2606:2800:220:1::1", "2a00:1450::1"])
    assert.equal(judge(address), true, address);
  const inner = [
    "127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1",
    "192.0.0.170 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 192.88.99.1",
    ":: ::1 fe80::1 fec0::1 fc00::1 fd12:3456::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1",
    "64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 100::1 nonsense",
  ].join(" ");
  for (const address of inner.split(" ")) assert.equal(judge(address), false, address);
});

test("an operator may allow networks, addresses and places", () => {
  assert.equal(judge("10.1.2.3", ["10.1.0.0/16"]), true);
  assert.equal(judge("10.2.2.3", ["10.1.0.0/16"]), false);
  assert.equal(judge("10.0.0.1", ["10.0.0.1"]), true);
  assert.equal(judge("10.0.0.2", ["10.0.0.1"]), false);
  assert.equal(judge("fd00::7", ["fd00::/8"]), true);
  assert.equal(judge("10.0.0.9", ["Registry.Internal:5000"], "registry.internal", 5000), true);
  assert.equal(judge("10.0.0.9", ["registry.internal:5000"], "registry.internal", 5001), false);
  assert.equal(judge("10.0.0.9", ["registry.internal:5000"], "other.internal", 5000), false);
  assert.equal(judge("::1", ["[::1]:5000"], "::1", 5000), true);
  for (const wrong of [
    "",
    "10.0.0.0/33",
    "10.0.0.0/x",
    "fd00::/129",
    "host",
    "host:",
    "host:99999",
    "a b:1",
    "u@h:1",
    "http://h:1",
  ])
    assert.equal(parseAllowedTarget(wrong), undefined, wrong);
});

let certificate: Certificate;
before(async () => void (certificate = await createCertificate()));
after(() => certificate?.remove());

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});
async function serve(answer: RequestListener): Promise<{ port: number; asked: () => number }> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { port: (server.address() as AddressInfo).port, asked: () => asked };
}

const getting = (url: string, allowed: readonly string[] = [], names?: typeof lookup) =>
  outgoingGet({
    mayReach: allowPublicAddresses(allowed),
    signal: AbortSignal.timeout(20_000),
    ...(names ? { lookup: names } : {}),
  })(url);
const refused = (error: Unreached): boolean => error.reason === "Address not allowed";

test("no spelling of an inner address is connected to", async () => {
  const { port, asked } = await serve((_, response) => response.end("inner"));
  const spellings = [
    ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "0"],
    ...[
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[fe80::1]",
      "[fd00::1]",
    ],
    ...["localhost", "LOCALHOST", "127.0.0.1.", "１２７.0.0.1", "127。0。0。1"],
  ];
  for (const host of spellings) await assert.rejects(getting(`http://${host}:${port}/v2/`), refused, host);
  await assert.rejects(getting("http://169.254.169.254/latest/meta-data/"), refused);
  assert.equal(asked(), 0);
  assert.equal((await getting(`http://127.0.0.1:${port}/`, ["127.0.0.0/8"])).body, "inner");
});

test("schemes other than http and https, and addresses with a user, are not used", async () => {
  for (const url of [
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_x",
    "ftp://x/",
    "http://u:p@example.com/",
    "//x",
    "",
  ])
    await assert.rejects(getting(url), { reason: "Address" }, url);
});

test("a redirect is judged like the address itself", async () => {
  const inner = await serve((_, response) => response.end("inner"));
  const outer = await serve((_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end(),
  );
  const place = `127.0.0.1:${outer.port}`;
  await assert.rejects(getting(`http://${place}/`, [place]), refused);
  assert.equal(inner.asked(), 0);
  assert.equal((await getting(`http://${place}/`, [place, `127.0.0.1:${inner.port}`])).body, "inner");
});

type Answered = (error: Error | null, addresses: { address: string; family: number }[]) => void;
/** A name service that answers differently each time. */
function names(...answers: readonly (readonly string[])[]): { service: typeof lookup; asked: () => number } {
  let nth = 0;
  const service = (_name: string, _options: object, answer: Answered): void => {
    const addresses = answers[Math.min(nth, answers.length - 1)] ?? [];
    nth += 1;
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { service: service as typeof lookup, asked: () => nth };
}

test("a name is judged by the address that is connected to, whatever it is said to be later or besides", async () => {
  const { port, asked } = await serve((_, response) => response.end("inner"));
  const url = `http://rebind.example.com:${port}/`;
  await assert.rejects(getting(url, [], names(["127.0.0.1"]).service), refused);
  await assert.rejects(getting(url, [], names(["93.184.216.34", "127.0.0.1"]).service), refused, "one of two");
  await assert.rejects(getting(url, [], names(["2606:2800:220:1::1", "::1"]).service), refused);
  assert.equal(asked(), 0);
  // The second answer of the name service is never asked for: what was judged is what is connected to.
  const twice = names(["127.0.0.1"], ["127.0.0.2"]);
  assert.equal((await getting(url, ["127.0.0.1"], twice.service)).body, "inner");
  assert.equal(twice.asked(), 1);
  await assert.rejects(getting(url, [], names([]).service), { reason: "Unknown host" });
});

test("redirects are followed five times, and not for ever", async () => {
  const { port, asked } = await serve((_, response) => response.writeHead(302, { location: "/again" }).end());
  await assert.rejects(
    getting(`http://127.0.0.1:${port}/`, ["127.0.0.1"]),
    ({ reason }: Unreached) => reason === "Redirects",
  );
  assert.equal(asked(), 6);
});

test("what was asked for with TLS is not fetched without it, wherever a redirect leads", async () => {
  const plain = await serve((_, response) => response.end("plain"));
  const files = { key: readFileSync(certificate.key), cert: readFileSync(certificate.certificate) };
  const secure = secureServer(files, (_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${plain.port}/` }).end(),
  );
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const known = getCACertificates("default");
  setDefaultCACertificates([...known, files.cert.toString()]);
  try {
    await assert.rejects(
      getting(`https://localhost:${(secure.address() as AddressInfo).port}/`, ["127.0.0.0/8", "::1"]),
      ({ reason, message }: Unreached) => reason === "Redirect" && message.includes("from https to http"),
    );
    assert.equal(plain.asked(), 0);
  } finally {
    setDefaultCACertificates(known);
    secure.close();
  }
});
