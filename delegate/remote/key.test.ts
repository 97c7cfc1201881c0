import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { isEncrypted, extractPrivateKey } from "./key.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const locked = { cipher: "aes-256-cbc", passphrase: "open sesame" } as const;

test("an encrypted key is recognised in each form of PEM", () => {
  for (const [key, is] of [
    [rsa.export({ type: "pkcs1", format: "pem" }), false],
    [rsa.export({ type: "pkcs1", format: "pem", ...locked }), true],
    [rsa.export({ type: "pkcs8", format: "pem" }), false],
    [rsa.export({ type: "pkcs8", format: "pem", ...locked }), true],
    [ec.export({ type: "sec1", format: "pem" }), false],
  ] as const) {
    assert.equal(isEncrypted(key), is, key.slice(0, 40));
    assert.equal(extractPrivateKey(key), key);
  }
});

test("text around a key is removed, the key itself stays", () => {
  const key = ec.export({ type: "sec1", format: "pem" });
  const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  for (const text of [
    `${parameters}${key}`,
    `Bag Attributes\n    friendlyName: x\nKey Attributes: <No Attributes>\n${key}`,
    `${key}${key}`,
    key.replaceAll("\n", "\r\n"),
    key.replaceAll("\n", "\r"),
    `\xEF\xBB\xBF${key}\n\n`,
    key.trimEnd(),
  ])
    assert.equal(extractPrivateKey(text), key);
});

test("a file without a private key is described without its content", () => {
  const key = ec.export({ type: "sec1", format: "pem" });
  const faultOf = (text: string): string => {
    const found = extractPrivateKey(text);
    return typeof found === "string" ? "none" : found.fault;
  };
  assert.match(faultOf(""), /^is no private key/);
  assert.match(faultOf(key.replaceAll("-----", "----")), /^is no private key/);
  assert.match(faultOf(key.replaceAll("\n", " ")), /^is no private key/);
  assert.match(faultOf("-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"), /^is a public key/);
  assert.match(faultOf("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n"), /^is a public key/);
  assert.match(faultOf("ecdsa-sha2-nistp256 AAAAE2Vj me"), /^is a public key/);
  assert.equal(faultOf(key.slice(0, 99)), "is cut off: it has no line -----END EC PRIVATE KEY-----");
});
