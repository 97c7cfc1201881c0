import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fault.ts";
import { parseOptions } from "./options.ts";

const GOOD = ["--url", "http://127.0.0.1:7070", "--token", "t", "--name", "box"];

const parse = (argv: readonly string[], env: Record<string, string> = {}) => {
  const parsed = parseOptions(argv, env);
  assert.equal(parsed.kind, "run");
  return parsed.kind === "run" ? parsed.options : assert.fail();
};

/** The good options with one of them replaced or added. */
const withOption = (name: string, value: string): readonly string[] => {
  const at = GOOD.indexOf(name);
  return at < 0 ? [...GOOD, name, value] : GOOD.with(at + 1, value);
};

test("all options are read", () => {
  const options = parse([
    ...GOOD,
    "--tag",
    "a",
    "--tag",
    "b",
    "--tag",
    "a",
    "--work-dir",
    "/w",
    "--slots",
    "7",
    "--step-user",
    "ci",
    "--step-path",
    "/opt/bin:/bin",
    "--known-hosts",
    "/etc/railhead/hosts",
    "--max-step-output",
    "3MiB",
    "--belongs-to",
    "/data",
  ]);
  assert.deepEqual(options, {
    socketUrl: "ws://127.0.0.1:7070/delegate/connect",
    token: { kind: "given", token: "t" },
    name: "box",
    tags: ["a", "b"],
    workDir: "/w",
    slots: 7,
    stepUser: "ci",
    stepPath: "/opt/bin:/bin",
    knownHosts: "/etc/railhead/hosts",
    mayGainPrivileges: false,
    maxStepOutput: 3 * 1024 * 1024,
    local: false,
    belongsTo: "/data",
  });
});

test("an address may have a path, and https becomes wss", () => {
  assert.equal(
    parse(withOption("--url", "https://x.example/rail/")).socketUrl,
    "wss://x.example/rail/delegate/connect",
  );
});

test("the token comes from the environment, a file or standard input", () => {
  const bare = ["--url", "http://x", "--name", "box"];
  assert.deepEqual(parse(bare, { RAILHEAD_DELEGATE_TOKEN: "e" }).token, { kind: "given", token: "e" });
  assert.deepEqual(parse([...bare, "--token-file", "/t"], { RAILHEAD_DELEGATE_TOKEN: "e" }).token, {
    kind: "file",
    path: "/t",
  });
  assert.deepEqual(parse([...bare, "--local"]).token, { kind: "stdin" });
});

const wrong: readonly (readonly [argv: readonly string[], names: RegExp])[] = [
  [GOOD.slice(2), /--url is missing/],
  [withOption("--url", "127.0.0.1:7070"), /--url '127\.0\.0\.1:7070'/],
  [withOption("--url", "ftp://x"), /--url 'ftp:\/\/x'/],
  [withOption("--url", "http://u:p@x"), /--url may hold/],
  [withOption("--url", "http://x?token=1"), /--url may hold/],
  [GOOD.slice(0, 4), /--name is missing/],
  [withOption("--name", ""), /--name/],
  [withOption("--name", "a\nb"), /--name/],
  [withOption("--name", "n".repeat(129)), /--name/],
  [withOption("--tag", " "), /--tag/],
  [[...GOOD, ...Array.from({ length: 65 }, (_, n) => ["--tag", `t${n}`]).flat()], /--tag may be given 64/],
  [withOption("--slots", "0"), /--slots '0'/],
  [withOption("--slots", "1025"), /--slots '1025'/],
  [withOption("--slots", "4.5"), /--slots '4\.5'/],
  [withOption("--work-dir", ""), /--work-dir is empty/],
  [withOption("--step-user", ""), /--step-user is empty/],
  [withOption("--step-path", ""), /--step-path '' must hold absolute folders/],
  [withOption("--step-path", "/bin::/usr/bin"), /--step-path/],
  [withOption("--step-path", "bin:/usr/bin"), /--step-path/],
  [["--url", "http://x", "--name", "box"], /a token is missing/],
  [withOption("--token-file", "/t"), /exclude each other/],
  [[...GOOD, "--local"], /--local/],
  [[...GOOD, "--colour"], /unknown option '--colour'/],
  [[...GOOD, "extra"], /too many arguments/],
];

for (const [argv, names] of wrong)
  test(`refused, naming the option: ${names.source}`, () => {
    assert.throws(
      () => parseOptions(argv, {}),
      (error) => error instanceof Fault && error.exitCode === 2 && names.test(error.message),
    );
  });

test("help is text and needs no other option", () => {
  const parsed = parseOptions(["--help"], {});
  assert.ok(parsed.kind === "help" && parsed.text.includes("--step-user"));
});

test("the output of a step is limited by a number of bytes, with a unit or without", () => {
  const limitOf = (text: string): number => parse(withOption("--max-step-output", text)).maxStepOutput;
  assert.deepEqual(["1000", "2KiB", "2 MiB", "1GiB"].map(limitOf), [1000, 2048, 2 * 1024 ** 2, 1024 ** 3]);
  assert.equal(parse(GOOD).maxStepOutput, 1024 ** 3);
  for (const wrong of ["0", "-1", "1GB", "1.5GiB", "GiB", "", "9007199254740993", "999999999999999GiB"])
    assert.throws(() => limitOf(wrong), /^Fault: --max-step-output '.*' must be a whole number of bytes/);
});
