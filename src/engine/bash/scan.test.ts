import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { bindScript } from "../script.ts";

/** The expression of every script here. */
const E = "<+pipeline.name>";

/** `p` prints its arguments between angle brackets. Without a path nothing but builtins runs. */
const bash = (source: string, env: Record<string, string>) =>
  spawnSync("/bin/bash", ["--norc", "-c", `p() { printf '<%s>' "$@"; }\n${source}`], {
    env: { PATH: "/nonexistent", none: "", p1: "x", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });

const joined = (parts: fc.Arbitrary<string>, most: number, least = 0): fc.Arbitrary<string> =>
  fc.array(parts, { minLength: least, maxLength: most }).map((pieces) => pieces.join(""));

type Grammar = Record<
  "dqPart" | "dq" | "sq" | "param" | "paramPart" | "subst" | "word" | "simple" | "body" | "cmd" | "list",
  string
>;

const { list: script } = fc.letrec<Grammar>((tie) => {
  const any = (...given: fc.Arbitrary<string>[]) => fc.oneof({ maxDepth: 5 }, ...given);
  const words = (...given: string[]) => fc.constantFrom(...given);
  const filled = (make: (word: string, simple: string, body: string) => string) =>
    fc.tuple(tie("word"), tie("simple"), tie("body")).map(([word, simple, body]) => make(word, simple, body));
  return {
    dqPart: any(
      words("a", " it's ", "#", '\\"', "\\\\", "\\$", "(", ")", "}", E, E, "<", "\n", "$ ", "'", "[[", "<<EOF"),
      tie("subst"),
      tie("param"),
    ),
    dq: joined(tie("dqPart"), 4).map((text) => `"${text}"`),
    sq: words(`'a"b'`, "'$('", "'`'", "'#'", "'\\'", "$'it\\'s'", "'<<X'", "'}'", "'))'"),
    param: fc
      .tuple(words("${none:-", "${none-", "${none:+", "${p1:+", "${p1#", "${p1%%"), joined(tie("paramPart"), 2))
      .map(([head, text]) => `${head}${text}}`),
    paramPart: any(words("a", "x", E, "'q'", "\\}", "#"), tie("dq"), tie("subst")),
    subst: any(
      tie("simple").map((text) => `$(${text})`),
      tie("list").map((text) => `$(${text}\n)`),
      words("$((1 + 2))", "$[3]", "`p a`", '`p "x" # c`', "$( (p q) )", "${#none}", "$#"),
    ),
    word: joined(
      any(words("w", "x#y", "\\'", '\\"', "a{b", "]", "@", E), tie("dq"), tie("sq"), tie("subst"), tie("param")),
      3,
      1,
    ),
    simple: fc.array(tie("word"), { minLength: 1, maxLength: 3 }).map((all) => `p ${all.join(" ")}`),
    body: joined(any(words("a", "it's", '"', "#", "\\$", "\\\\", E, " ", "'"), tie("subst"), tie("param")), 4),
    cmd: any(
      tie("simple"),
      filled((word) => `v=${word}; p "$v"`),
      filled((_, simple) => `( ${simple} ); { ${simple}; }`),
      filled((word, simple) => `if [[ ${word} == ${word} && -n ${word} ]]; then ${simple}; fi`),
      filled((word, simple) => `case ${word} in x|y) p no;; (*) ${simple};; esac`),
      filled((_, simple) => `if ((1 << 2 > 3)); then ${simple}; fi`),
      filled((_, simple) => `${simple} # it's a "comment $( ${E}`),
      filled((_, simple) => `f() { ${simple}; }; f`),
      filled((word) => `a=(${word} z); p "\${a[0]}"`),
      filled((word) => `read -r l <<< ${word}; p "$l"`),
      filled((_, simple, body) => `while read -r l; do p "$l"; done <<EOF; ${simple}\n${body}\nEOF`),
      filled((_, simple) => `while read -r l; do p "$l"; done <<-'E F'\n\tit's $( \`\n\tE F\n${simple}`),
      filled((_, __, body) => `{ read -r l; read -r m <&3; p "$l" "$m"; } <<A 3<<\\B\n${body}\nA\nzz ' $(\nB`),
    ),
    list: fc.array(tie("cmd"), { minLength: 1, maxLength: 3 }).map((all) => all.join("\n")),
  };
});

// RAILHEAD_FUZZ_RUNS=4000 for a long look; the scripts are random, so every run of the tests looks elsewhere.
const numRuns = Number(process.env["RAILHEAD_FUZZ_RUNS"] ?? 80);

const UNPARSED = /syntax error|unexpected EOF|here-document|bad substitution/;

test("property: in a real Bash an accepted script does the same as one with the word itself in place", () => {
  let compared = 0;
  fc.assert(
    fc.property(
      script.filter((source) => source.includes(E)),
      (source) => {
        const result = bindScript(source);
        if ("faults" in result) return;
        const expected = bash(source.replaceAll(E, "VAL"), {});
        // What Bash itself cannot parse says nothing about the scanner.
        if (UNPARSED.test(expected.stderr.toString())) return;
        const given = bash(result.script, { RAILHEAD_EXPR_1: "VAL" });
        // Bash 5.2 parses some comments in a substitution in an array in a substitution as code. The text of an
        // expression that stays in such a comment is a syntax error then; nothing of the script runs.
        if (result.script.includes(E) && UNPARSED.test(given.stderr.toString())) return;
        assert.equal(
          given.stdout.toString(),
          expected.stdout.toString(),
          `${source}\n--- became ---\n${result.script}`,
        );
        assert.equal(given.status, expected.status);
        compared++;
      },
    ),
    { numRuns },
  );
  assert.ok(compared > numRuns / 5, `only ${compared} of ${numRuns} scripts could be compared`);
});

test("after a '((' that is two subshells nothing is known, so expressions are refused", () => {
  for (const source of [
    `p "$(( p 'a"b' ); p x)" "${E}"`,
    `x=$((cd /; pwd) | tr a b)\necho "${E}"`,
    `((p a); p b)\np "${E}"`,
  ]) {
    const result = bindScript(source);
    assert.ok("faults" in result, source);
    assert.match(JSON.stringify(result.faults), /not closed by '\)\)'/);
  }
  for (const source of [
    `x=$(( (1 + 2) * (3) ))\np "${E}"`,
    `x=$( (p a; p b) | cat)\np "${E}"`,
    `for ((i = 0; i < (3); i++)); do p "${E}"; done`,
    `echo $(((1+2)*3)) "${E}"`,
  ])
    assert.ok(!("faults" in bindScript(source)), source);
});

test("a here-document inside a substitution leaves the one of the line around it alone", () => {
  const source = `cat <<A "$(cat <<'B'\nit's\nB\n)"\n${E} it's\nA\nx "${E}"`;
  assert.deepEqual(bindScript(source), {
    script: source.replaceAll(E, "${RAILHEAD_EXPR_1}"),
    bindings: [{ name: "RAILHEAD_EXPR_1", expression: E }],
  });
});

test("a here-document whose substitution ends on the same line has its body after that line", () => {
  assert.deepEqual(bindScript(`x=$(cat <<'A')\n$y ${E}\nA\n`), {
    script: "x=$(cat <<A)\n\\$y ${RAILHEAD_EXPR_1}\nA\n",
    bindings: [{ name: "RAILHEAD_EXPR_1", expression: E }],
  });
});

test("quotes and substitutions inside each other without end are refused, not followed", () => {
  const result = bindScript(`${"$(".repeat(5_000)}${E}`);
  assert.ok("faults" in result);
  assert.match(result.faults[0]?.message ?? "", /deeper than 200/);
});

test("a long hostile script is scanned in time that grows with its length", () => {
  for (const piece of [`x[${E}`, `'${E}`, "<<A ", `"${E}\\`, "${x:-", "((", "`", "[[ -v ", `${E}#`])
    bindScript(piece.repeat(20_000) + E);
});
