import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { formatCurl } from "./curl.ts";

/** The arguments that a shell would give to curl. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env: { KEY: "the-key" } })
    .split("\0")
    .slice(0, -1);
}

test("a request without a body is one GET", () => {
  assert.deepEqual(argumentsOf(formatCurl({ method: "GET", url: "https://example.org/v1/orgs?a=1&b=2" })), [
    "-H",
    "x-api-key: the-key",
    "https://example.org/v1/orgs?a=1&b=2",
  ]);
});

test("a value is sent as JSON, a text as it is", () => {
  const body = { name: "o'brien", note: "line 1\nline 2" };
  const json = argumentsOf(formatCurl({ method: "POST", url: "https://example.org/", body }));
  assert.deepEqual(json.slice(0, 6), [
    "-X",
    "POST",
    "-H",
    "x-api-key: the-key",
    "-H",
    "content-type: application/json",
  ]);
  assert.deepEqual(JSON.parse(json[7] ?? ""), body);
  const text = formatCurl({
    method: "PUT",
    url: "https://example.org/",
    headers: { "if-match": '"3"' },
    body: "@pipeline:\n",
  });
  assert.deepEqual(argumentsOf(text).slice(4), [
    "-H",
    'if-match: "3"',
    "--data-raw",
    "@pipeline:\n",
    "https://example.org/",
  ]);
});

test("nothing in a request is a command", () => {
  const hostile = "'; touch /tmp/x; $(id) `id` $KEY \\ \" \n#";
  const found = argumentsOf(
    formatCurl({ method: "POST", url: `https://example.org/${hostile}`, headers: { a: hostile }, body: hostile }),
  );
  assert.deepEqual(found.slice(5), [`a: ${hostile}`, "--data-raw", hostile, `https://example.org/${hostile}`]);
});
