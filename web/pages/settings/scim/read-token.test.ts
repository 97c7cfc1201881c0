import assert from "node:assert/strict";
import { test } from "node:test";
import { readToken } from "./read-token.ts";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

test("header and claims are shown with all their characters", () => {
  const token = `${part({ alg: "RS256", kid: "ä" })}.${part({ aud: "railhead?>~" })}.c2ln`;
  assert.equal(readToken(token), '{\n  "alg": "RS256",\n  "kid": "ä"\n}\n{\n  "aud": "railhead?>~"\n}');
});

test("what is no signed token has no content", () => {
  for (const text of ["", "nonsense", "a.b.c", `${part({})}.%.x`, `${part({})}.${part({})}`])
    assert.equal(readToken(text), undefined, text);
});
