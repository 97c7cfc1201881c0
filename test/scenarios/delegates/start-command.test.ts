/** The command that starts a delegate: a shell and the delegate read it as it is meant. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { parseOptions } from "../../../delegate/options.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
});
after(() => platform?.stop());

const shell = promisify(execFile);

test("the start command is what the delegate reads, whatever the name and the tags hold", async () => {
  const hostile = `a'b"c $(touch x) \`y\` --; # é`;
  for (const [name, tags] of [
    ["build-1", []],
    [hostile, ["linux", hostile, "--local", "-x"]],
    ["--token", ["eu"]],
  ] as const) {
    const query = new URLSearchParams([["name", name], ...tags.map((tag) => ["tag", tag])]);
    const { resource } = (await platform.send("GET", `/ng/api/delegate-setup/start-command?${query.toString()}`)).body;
    const script = `npx() { printf '%s\\0' "$RAILHEAD_DELEGATE_TOKEN" "$@"; }\n${resource.command}`;
    const { stdout } = await shell("sh", ["-c", script]);
    const [placeholder = "", no, end, program, kind, ...argv] = stdout.split("\0").slice(0, -1);
    assert.deepEqual(
      [placeholder, no, end, program, kind],
      [resource.tokenPlaceholder, "--no", "--", "railhead", "delegate"],
    );
    const parsed = parseOptions(argv, { RAILHEAD_DELEGATE_TOKEN: placeholder });
    assert.ok(parsed.kind === "run");
    assert.deepEqual([parsed.options.name, parsed.options.tags], [name, tags]);
    assert.equal(parsed.options.socketUrl, `${platform.url.replace(/^http/, "ws")}/delegate/connect`);
  }
});

test("names that no delegate can have are refused by the parameter's name", async () => {
  for (const query of [
    "",
    "name=",
    "name=%20",
    "name=a%0Ab",
    `name=${"x".repeat(129)}`,
    "name=a&tag=",
    "name=a&tag=%00",
  ]) {
    const answer = await platform.send("GET", `/ng/api/delegate-setup/start-command?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(answer.text, query.includes("tag") ? /tag/ : /name/);
  }
});
