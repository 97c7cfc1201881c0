import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { bindScript } from "./script.ts";

const folder = mkdtempSync(join(tmpdir(), "railhead-script-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `p` prints its arguments between angle brackets, byte for byte. */
const PRELUDE = `p() { printf '<%s>' "$@"; }\n`;

// With a socket as standard input Bash takes itself for a remote shell and reads the user's start file.
const bash = (source: string, env: Record<string, string>) =>
  spawnSync("/bin/bash", ["--norc", "-c", source], { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

function bound(script: string) {
  const result = bindScript(script);
  if ("faults" in result) assert.fail(result.faults.map((fault) => fault.message).join("\n"));
  return result;
}

/** Runs a bound script in a real Bash; every expression has the same value. Nothing may be left in the folder. */
function run(script: string, value: string): string {
  const { script: source, bindings } = bound(script);
  const env = Object.fromEntries(bindings.map(({ name }) => [name, value]));
  const ran = bash(PRELUDE + source, { PATH: "/usr/bin:/bin", ...env });
  assert.equal(ran.stderr.toString(), "", source);
  assert.deepEqual(readdirSync(folder), [], "the value was run as code");
  return ran.stdout.toString();
}

const HOSTILE = `a'b"c $(touch hacked)\`touch hacked\` \${HOME} \\ $'\\n' ; touch hacked\n} ) EOF\n<+pipeline.name> 100% *`;

/** Contexts that take the value as it is; \`@\` is the expression, in the script and in what it must print. */
const EXACT: readonly (readonly [name: string, script: string, printed: string])[] = [
  ["double quotes", `p "@"`, "<@>"],
  ["text around it in double quotes", `p "a@b@c"`, "<a@b@c>"],
  ["after single quotes", `p 'it''s '"@"`, "<its @>"],
  ["an apostrophe in double quotes", `p "it's @"`, "<it's @>"],
  ["an assignment without quotes", `x=@; p "$x"`, "<@>"],
  ["declarations", `f() { local x=@; p "$x"; }; export Y="@"; f; p "$Y"`, "<@><@>"],
  ['$"…"', `p $"@"`, "<@>"],
  ["after an escaped dollar", `p "\\$@"`, "<$@>"],
  ["after two backslashes", `p "\\\\@"`, "<\\@>"],
  ["a command substitution", `x=$(p "@"); p "$x"`, "<<@>>"],
  ["a substitution in double quotes", `p "$(p "@")"`, "<<@>>"],
  ["a substitution with a case and its lone parenthesis", `p "$(case x in x) p 'y' "@";; esac)"`, "<<y><@>>"],
  ["backquotes", 'x=`p "@"`; p "$x"', "<<@>>"],
  ["nested backquotes", 'x=`p "\\`p "@"\\`"`; p "$x"', "<<<@>>>"],
  ["backquotes with an escaped one in single quotes", 'x=`p \'\\`\' "@"`; p "$x"', "<<`><@>>"],
  ["a case with two patterns in double quotes", `p "$(case y in x) :;; y) p '"' "@";; esac)"`, '<<"><@>>'],
  ["an argument of a shell's code that reads like an option", `bash -c 'printf "<%s>" "$2"' _ -c "@"`, "<@>"],
  ["a here-document that is announced before a parenthesis", `cat <<A && (p a\nit's "@"\nA\np b)`, `it's "@"\n<a><b>`],
  ["a default value", `p "\${none:-@}"`, "<@>"],
  ["a default value with single quotes before it", `p "\${none:-'}'@}"`, "<'}'@>"],
  ["after a here-document with single quotes in a default value", `cat <<E\n\${none:-'}'}\nE\np "@"`, "'}'\n<@>"],
  ["a here-document", `cat <<EOF\n"@" it's\nEOF`, `"@" it's\n`],
  ["a here-document with tabs", `cat <<-EOF\n\tx @\n\tEOF\np "@"`, "x @\n<@>"],
  ["two here-documents on one line, one of them quoted", `cat <<'A' - <<B\nit's\nA\n@\nB\np "@"`, "@\n<@>"],
  ["a here-document in a substitution", `x=$(cat <<EOF\n@\nEOF\n)\np "$x"`, "<@>"],
  ["a here-document whose delimiter line is continued away", `cat <<E\na\\\nE\n'@'\nE`, "aE\n'@'\n"],
  ["after a here-document that was quoted", `cat <<'EOF'\nit's $(\nEOF\np "@"`, "it's $(\n<@>"],
  ["a here-string", `cat <<<"@"`, "@\n"],
  ["a here-string without quotes", `cat <<<@`, "@\n"],
  ["after a comment with an apostrophe", `# don't @ {\np "@"`, "<@>"],
  ["a # that begins no comment", `p a#'b' "\${#x}@"`, "<a#b><0@>"],
  ["a text test", `if [[ "@" == "@" && 2 -gt 1 ]]; then p "@"; fi`, "<@>"],
  ["a regular expression test", `[[ ab =~ ^(a|b)+$ ]] && p "@"`, "<@>"],
  ["after arithmetic", `n=$((1 << 2)); ((n > 2)) && p "$n@"`, "<4@>"],
  ["a loop with arithmetic", `for ((i = 0; i < 2; i++)); do p "@"; done`, "<@><@>"],
  ["an array", `a=("@" 'x'); p "\${a[0]}"`, "<@>"],
  ["an argument of a shell's code", `bash -c 'printf "<%s>" "$1"' _ "@"`, "<@>"],
  ["a process substitution", `cat <(p "@")`, "<@>"],
  ["a redirection before it", `p 2>/dev/null "@" 2>&1`, "<@>"],
  ["a function", `f () { p "@"; }; f`, "<@>"],
  ["an ANSI string that holds a quote", `p $'it\\'s'"@"`, "<it's@>"],
  ["single quotes", `p 'a "@" b'`, '<a "@" b>'],
  ["single quotes and nothing else", `p '@' '' '@'`, "<@><><@>"],
  ["single quotes in a substitution in double quotes", `p "$(p '@')"`, "<<@>>"],
  ["single quotes in a default", `p \${none:-'@'}`, "<@>"],
  ["single quotes that a default in double quotes puts out", `p "\${none:-'@'}"`, "<'@'>"],
  ["single quotes in a pattern in double quotes", `x=a.@; p "\${x#'a.'}"`.replace("@", "b"), "<b>"],
  ["$'…'", `p $'a\\tb\\'@'`, "<a\tb'@>"],
  ["a quoted here-document", `cat <<'EOF'\n"@" $5 \\$x \`id\` \\\\\nEOF`, '"@" $5 \\$x `id` \\\\\n'],
  ["a half-quoted delimiter", `cat <<E"O"F\n@\nEOF\np "@"`, "@\n<@>"],
  ["an escaped delimiter with tabs", `cat <<-\\EOF\n\t$1 @\n\tEOF`, "$1 @\n"],
  ["a body that has the word in place of its delimiter", `cat <<'E F'\nEND_OF_TEXT\n@\nE F`, "END_OF_TEXT\n@\n"],
  ["a delimiter that needs its quotes", `cat <<'E F' <<''\nx\nE F\n@ END_OF_TEXT\n\np "@"`, "@ END_OF_TEXT\n<@>"],
  ["a quoted here-document in a substitution", `p "$(cat <<'A'\n"@" $x\nA\n)"`, '<"@" $x>'],
  ["a quoted here-document in backquotes", "x=`cat <<'A'\n@ \\\\\\\\ \\$x\nA\n`\np \"$x\"", "<@ \\\\ $x>"],
  ["single quotes in nested backquotes", 'v=`p "\\`p \'@\'\\`"`; p "$v"', "<<<@>>>"],
  [
    "the key of an associative array",
    `declare -A m=(['@']=1); m["@"]=2; p "\${!m[@@]}" "\${m['@']}"`.replace("@@", "*"),
    "<@><2>",
  ],
  ["a text that is compared with single quotes", `[[ '@' == "@" && "@" =~ ^'@'$ ]] && p '@'`, "<@>"],
  ["a pattern in single quotes", `case "@" in '@') p yes;; *) p no;; esac`, "<yes>"],
  ["a here-string in single quotes", `cat <<< '@'`, "@\n"],
  ["a process substitution with single quotes", `cat <(p '@')`, "<@>"],
  ["$(( that is two subshells, then the value", `p "$( (p a); p b)@"`, "<<a><b>@>"],
];

for (const [name, script, printed] of EXACT) {
  test(`a value stays what it is: ${name}`, () => {
    const source = script.replaceAll("@", () => "<+pipeline.variables.x>");
    assert.equal(
      run(source, HOSTILE),
      printed.replaceAll("@", () => HOSTILE),
    );
  });
}

test("without quotes a value is cut into words, as any variable is, and nothing is run", () => {
  assert.equal(
    run(`p <+pipeline.name>`, "a $(touch hacked) `touch hacked`;b"),
    "<a><$(touch><hacked)><`touch><hacked`;b>",
  );
});

test("a pattern removes a value", () => {
  assert.equal(run(`x=a.b; p "\${x%"<+pipeline.name>"}"`, ".b"), "<a>");
});

const REFUSED: readonly (readonly [name: string, script: string, why: RegExp])[] = [
  ["a file after >&, which Bash expands twice", `p x >&"@"`, /expands the word after >& twice/],
  ["a descriptor", `p x 2>& '@'`, /expands the word after >& twice/],
  ["a delimiter", `cat << @\nx\n@`, /delimiter of a here-document literally/],
  ["a backslash", `p \\@`, /backslash/],
  ["a backslash in double quotes", `p "\\@"`, /backslash/],
  ["a backslash in a here-document", `cat <<EOF\n\\@\nEOF`, /backslash/],
  ["a dollar", `p "$@@"`.replace("@@", "@"), /directly before/],
  ["a test of a name", `[[ -v @ ]]`, /variable's name/],
  ["single quotes in arithmetic", `p $(( '@' + 1 ))`, /no single quotes in arithmetic/],
  ["$'…' in a default in double quotes", `p "\${x:-$'a@'}"`, /in different ways/],
  ["backslashes in backquotes in double quotes", "p \"`p \\\\x '@'`\"", /write \$\(…\) for the backquotes/],
  ['a substitution in $"…"', `p $"$(p "@")"`, /remove the dollar sign/],
  ["a substitution in single quotes that are put out", `p "\${x:-'$(p "@")'}"`, /characters of the value/],
  ["test -v", `[ -v "@" ]`, /variable's name/],
  ["printf -v", `printf -v @ x`, /variable's name/],
  ["a declared name", `declare "@=1"`, /variable's name/],
  ["a name in ${…}", `p "\${@}"`, /default value, a pattern/],
  ["an indirect name", `p "\${!@}"`, /default value, a pattern/],
  ["eval", `x=1 eval "p @"`, /would run the value as code/],
  ["eval behind an argument that is empty", `$1eval "@"`, /would run the value as code/],
  ["eval around a variable that is empty", 'ev${x}al "@"', /would run the value as code/],
  ["eval of a substitution", `eval "$(p "@")"`, /would run the value as code/],
  ["builtin eval after a redirection", `2>/dev/null builtin eval "@"`, /would run the value as code/],
  ["trap", `trap "rm @" EXIT`, /would run the value as code/],
  ["the code of a shell", `bash -ec "p @"`, /would run the value as code/],
  ["the code of a shell behind other commands", `env A=1 /bin/sh -c "p @"`, /would run the value as code/],
  ["eval in a case", `case x in x) eval "@";; esac`, /would run the value as code/],
  ["eval after a here-document", `cat <<'E'\nx\nE\neval "@"`, /would run the value as code/],
  ["a script for another interpreter", `#!/usr/bin/env python3\nprint("@")`, /another interpreter/],
];

for (const [name, script, why] of REFUSED) {
  test(`an expression is refused where Bash would not take its value: ${name}`, () => {
    const result = bindScript(script.replaceAll("@", () => "<+pipeline.variables.x>"));
    assert.ok("faults" in result, "it was accepted");
    assert.match(result.faults[0]?.message ?? "", why);
  });
}

test("the refused contexts are dangerous in the Bash at hand: arithmetic runs a value, eval too", () => {
  const value = "a[$(echo ran >&2)]";
  for (const script of [
    '[[ "$V" -eq 1 ]]',
    ": $((V))",
    'a=x; : "${a:$V}"',
    "declare -i x=$V",
    '[ -v "$V" ]',
    "a[$V]=1",
    'echo x >&"/dev/null/$V"',
    'eval ": $V"',
  ]) {
    const ran = bash(script, { V: script.startsWith("eval") ? "; echo ran >&2" : value });
    assert.match(ran.stderr.toString(), /ran/, script);
  }
});

test("faults carry the line and column of the expression in the script", () => {
  const result = bindScript(`echo "<+pipeline.name>"\n  eval '<+stage.name>'\n`);
  assert.ok("faults" in result);
  assert.equal(result.faults.length, 1);
  const [fault] = result.faults;
  assert.deepEqual([fault?.offset, fault?.line, fault?.column], [32, 2, 9]);
  assert.match(fault?.message ?? "", /^Expression <\+stage\.name> cannot stand here: /);
});

test("what can never be resolved is a fault too", () => {
  const result = bindScript(`echo "<+variable.x>" <+nothing.a> <+pipeline.name.foo()>`);
  assert.ok("faults" in result);
  assert.deepEqual(
    result.faults.map((fault) => fault.message.split(":")[0]),
    [
      "Expression <+variable.x> is not supported yet",
      "Expression <+nothing.a> cannot be resolved",
      "Expression <+pipeline.name.foo()> is not valid",
    ],
  );
});

test("bad syntax is a fault at its place", () => {
  const result = bindScript(`\necho "<+pipeline.>"`);
  assert.ok("faults" in result);
  assert.deepEqual([result.faults[0]?.line, result.faults[0]?.column], [2, 18]);
});

test("the same expression gets the same variable, an expression with quotes is one unit", () => {
  assert.deepEqual(bindScript(`a "<+pipeline.name>" <+trigger.payload["x y"].get('z')> "<+pipeline.name>"`), {
    script: 'a "${RAILHEAD_EXPR_1}" ${RAILHEAD_EXPR_2} "${RAILHEAD_EXPR_1}"',
    bindings: [
      { name: "RAILHEAD_EXPR_1", expression: "<+pipeline.name>" },
      { name: "RAILHEAD_EXPR_2", expression: "<+trigger.payload[\"x y\"].get('z')>" },
    ],
  });
});

test("a script without expressions comes back untouched, also when it is no good Bash", () => {
  for (const script of ["", "echo hi\n", "if ' then", "cat <<EOF"])
    assert.deepEqual(bindScript(script), { script, bindings: [] });
});

test("expressions in comments stay, and bind nothing", () => {
  const script = "# <+secrets.x> '\necho `date # <+input>`\n";
  assert.deepEqual(bindScript(script), { script, bindings: [] });
});

test("a <+ that begins no expression is left alone where nothing expands", () => {
  assert.deepEqual(bindScript(`sed 's/<+/x/'`), { script: `sed 's/<+/x/'`, bindings: [] });
});

test("property: any value in any accepted context is printed byte for byte", () => {
  const script = `p "<+pipeline.name>"; cat <<EOF\n<+pipeline.name>\nEOF\nx=<+pipeline.name>; p "$(p "\${x:+<+pipeline.name>}")"`;
  const dangerous = fc.constantFrom(
    "$(touch hacked)",
    "`touch hacked`",
    "'",
    '"',
    "\\",
    "\n",
    "EOF\n",
    "${x}",
    "$'",
    "}",
    ")",
    ";",
    " ",
  );
  const value = fc
    .array(fc.oneof(dangerous, fc.string({ unit: "grapheme" })), { minLength: 1, maxLength: 8 })
    .map((parts) => `${parts.join("").replaceAll("\0", "")}.`);
  fc.assert(
    fc.property(value, (text) => {
      assert.equal(run(script, text), `<${text}>${text}\n<<${text}>>`);
    }),
    { numRuns: 40 },
  );
});

const PIECES = [
  "<+pipeline.name>",
  "'",
  '"',
  "`",
  "$(",
  ")",
  "${x:-",
  "${x:",
  "${x#",
  "}",
  "((",
  "$((",
  "))",
  "(",
  "\\",
  "\n",
  " ",
  "#",
  "<<EOF\n",
  "\nEOF\n",
  "<<'E'",
  "[[ ",
  " ]]",
  " -eq ",
  " && ",
  "case x in ",
  "a) ",
  ";;",
  " esac",
  "$'",
  "$",
  "eval ",
  "let ",
  "declare -i ",
  "unset ",
  "p ",
  "x=",
  "a[",
  "]",
  "1",
  ";",
  "<<<",
  "if ",
  "; then ",
  "; fi",
  "-v ",
  "test ",
  "bash -c ",
  "2>&1",
  "declare -A x; ",
  "x[",
  "['",
  "']=",
  "${x[",
  "${x/",
  "<<\\E\n",
  "<<-'E'\n\t",
  "\nE\n",
  "\\`",
  '$"',
  "function f { ",
  " }; f; ",
  " >(",
  "\\\n",
  "x=(",
  "local ",
];
const soup = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 30 }).map((pieces) => pieces.join(""));

test("property: binding never throws, and binds exactly what it replaces", () => {
  fc.assert(
    fc.property(soup, (source) => {
      const result = bindScript(source);
      if (!("script" in result)) return;
      assert.equal(result.bindings.length > 0, result.script.includes("${RAILHEAD_EXPR_1}"));
    }),
    { numRuns: 2000 },
  );
});

test("property: no accepted script, however odd, makes Bash run a value", () => {
  const runs = Number(process.env["RAILHEAD_SOUP_RUNS"] ?? 150);
  const candidates = soup.filter((source) => {
    const result = bindScript(source);
    // What has to be an integer is one before the script begins.
    return "script" in result && result.bindings.length > 0 && result.bindings.every(({ type }) => type === undefined);
  });
  fc.assert(
    fc.property(
      candidates,
      fc.constantFrom("a[$(touch hacked)]", "$(touch hacked)", "x;touch hacked;", "`touch hacked`"),
      (source, value) => {
        // Left from a failure, it would make every smaller script fail.
        rmSync(join(folder, "hacked"), { force: true });
        bash(PRELUDE + bound(source).script, { PATH: "/usr/bin:/bin", RAILHEAD_EXPR_1: value });
        assert.ok(!readdirSync(folder).includes("hacked"), bound(source).script);
      },
    ),
    { numRuns: runs },
  );
});

test("a secret becomes a variable like any other value, and is refused where Bash would run it or calculate with it", () => {
  const asked = '<+secrets.getValue("account.x")>';
  assert.deepEqual(bindScript(`curl -u "me:${asked}" -K <+secrets.getAsFile("y")> ${asked}`), {
    script: 'curl -u "me:${RAILHEAD_EXPR_1}" -K ${RAILHEAD_EXPR_2} ${RAILHEAD_EXPR_1}',
    bindings: [
      { name: "RAILHEAD_EXPR_1", expression: asked },
      { name: "RAILHEAD_EXPR_2", expression: '<+secrets.getAsFile("y")>' },
    ],
  });
  for (const script of [`$((${asked}))`, `bash <<'EOF'\n${asked}\nEOF`, `eval ${asked}`, `bash -c ${asked}`]) {
    const result = bindScript(`:\n${script}`);
    const [fault] = "faults" in result ? result.faults : [];
    assert.match(fault?.message ?? "accepted", /cannot stand here/, script);
    assert.ok((fault?.line ?? 0) >= 2);
  }
});

test("a secret is never a part of another expression, and its name is never computed", () => {
  for (const wrong of [
    '"a" + secrets.getValue("x")',
    'secrets.getValue("x").trim()',
    'secrets.getValue("x") == "y"',
    "secrets.getValue(pipeline.name)",
    "secrets.getValue(<+pipeline.name>)",
    'secrets.getValue("a" + "b")',
    'secrets.getValue("x", "y")',
    "secrets.getValue()",
    "secrets.x",
    "secrets",
    'secrets.getOther("x")',
    'true ? secrets.getValue("x") : "y"',
  ]) {
    const result = bindScript(`echo <+${wrong}>`);
    const [fault] = "faults" in result ? result.faults : [];
    assert.match(fault?.message ?? "accepted", /cannot stand here: a secret stands alone/, wrong);
  }
});
