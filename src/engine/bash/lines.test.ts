/**
 * One-line scripts as people write them, each with an ordinary value and with hostile ones, in a real Bash. `V` stands
 * for a text, `N` for a number, `P` for a text from a trigger's payload.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bindScript, type ScriptBinding } from "../script.ts";

const EXPRESSIONS: Readonly<Record<string, string>> = {
  V: "<+pipeline.variables.v>",
  N: "<+pipeline.variables.n>",
  P: "<+trigger.payload.p>",
};
const VALUES = ["1.4", "prod", `a'b"c`, "$(touch ran)", "`touch ran`", "a b  c", "*", "-n", "x\\y", "line\nbreak", ""];

const folder = mkdtempSync(join(tmpdir(), "railhead-lines-"));
const programs = join(folder, "bin");
const work = join(folder, "work");
after(() => rmSync(folder, { recursive: true, force: true }));

/** `ssh` runs its words as a remote shell does; the others say how they were called, psql with its input. */
before(() => {
  mkdirSync(programs);
  mkdirSync(work);
  const add = (name: string, text: string): void => {
    writeFileSync(join(programs, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(programs, name), 0o755);
  };
  for (const name of ["curl", "docker", "kubectl", "helm", "git", "sleep", "deploy"])
    add(name, `printf '%s' ${name}; printf '<%s>' "$@"; echo`);
  add("psql", `printf '<%s>' "$@"; cat`);
  add("ssh", `shift; exec bash -c "$*"`);
});

/** Runs the script once with each set of variables, each time in a folder of its own, and prints a status after each. */
const DRIVER = `for ((turn = 0; turn < TURNS; turn++)); do
  ( for name in $NAMES; do from="\${name}__$turn"; export "$name=\${!from}"; done
    mkdir "$turn" && cd "$turn" && eval "$SCRIPT" )
  printf '\\0%s\\0' "$?"
done`;

/** What the script printed and its status, by turn. */
function bash(script: string, turns: readonly Readonly<Record<string, string>>[]): readonly string[] {
  rmSync(work, { recursive: true });
  mkdirSync(work);
  writeFileSync(join(work, "list.txt"), VALUES.join("\n"));
  writeFileSync(join(work, "tpl"), "a __TAG__ b\n");
  writeFileSync(join(work, "f"), "one two\n");
  writeFileSync(join(work, "f.json"), '{"image":"x"}\n');
  const given = turns.flatMap((turn, at) => Object.entries(turn).map(([name, value]) => [`${name}__${at}`, value]));
  const names = Object.keys(turns[0] ?? {}).join(" ");
  const env = {
    ...{ PATH: `${programs}:/usr/bin:/bin`, HOME: "/srv/x", URL: "http://x", LC_ALL: "C" },
    ...{ TURNS: String(turns.length), NAMES: names, SCRIPT: script, ...Object.fromEntries(given) },
  };
  const ran = spawnSync("/bin/bash", ["--norc", "-c", DRIVER], { env, cwd: work, stdio: ["ignore", "pipe", "pipe"] });
  for (const at of turns.keys())
    assert.ok(!readdirSync(join(work, String(at))).includes("ran"), `a value was run: ${script}`);
  return ran.stdout.toString().split("\0").slice(0, -1);
}

const withExpressions = (line: string): string =>
  line.replace(/(?<=\\t|\b)[VNP]\b/g, (name) => EXPRESSIONS[name] ?? name);

function environment(bindings: readonly ScriptBinding[], values: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    bindings.map(({ name, expression }) => [
      name,
      values[Object.keys(EXPRESSIONS).find((key) => EXPRESSIONS[key] === expression) ?? ""] ?? "",
    ]),
  );
}

/** The line, the same with shell variables where a value is data, and what it prints for V=1.4, N=4 and P=me. */
const RUN: readonly (readonly [nth: number, line: string, reference: string, printed: string])[] = [
  [1, `echo 'V'`, `echo "$V"`, "1.4\n"],
  [2, `X='V'; echo "$X"`, `X="$V"; echo "$X"`, "1.4\n"],
  [
    3,
    `curl -s -d '{"name": "V"}' "$URL"`,
    `curl -s -d "{\\"name\\": \\"$V\\"}" "$URL"`,
    `curl<-s><-d><{"name": "1.4"}><http://x>\n`,
  ],
  [
    4,
    `curl -s -H 'Authorization: Bearer V' "$URL"`,
    `curl -s -H "Authorization: Bearer $V" "$URL"`,
    "curl<-s><-H><Authorization: Bearer 1.4><http://x>\n",
  ],
  [5, `cat <<'EOF'\nimage: V\nprice: $5\nEOF`, `cat <<EOF\nimage: $V\nprice: \\$5\nEOF`, "image: 1.4\nprice: $5\n"],
  [6, `cat <<EOF\nimage: V\nhome: $HOME\nEOF`, `cat <<EOF\nimage: $V\nhome: $HOME\nEOF`, "image: 1.4\nhome: /srv/x\n"],
  [
    7,
    `cat > app.yaml <<-'EOF'\n\timage: V\n\t\\$x\n\tEOF\ncat app.yaml`,
    `printf 'image: %s\\n\\\\$x\\n' "$V"`,
    "image: 1.4\n\\$x\n",
  ],
  [8, `if [ "V" = "prod" ]; then echo yes; fi`, `if [ "$V" = "prod" ]; then echo yes; fi`, ""],
  [9, `if [[ V == prod* ]]; then echo yes; fi`, `if [[ "$V" == prod* ]]; then echo yes; fi`, ""],
  [10, `if [[ N -gt 3 ]]; then echo big; fi`, `if [ "$N" -gt 3 ]; then echo big; fi`, "big\n"],
  [11, `(( N > 3 )) && echo big`, `[ "$N" -gt 3 ] && echo big`, "big\n"],
  [12, `echo $(( N * 2 ))`, `expr "$N" \\* 2`, "8\n"],
  [13, `for i in $(seq 1 N); do echo $i; done`, `seq 1 "$N"`, "1\n2\n3\n4\n"],
  [14, `for ((i=0; i<N; i++)); do echo $i; done`, `seq 0 $(expr "$N" - 1)`, "0\n1\n2\n3\n"],
  [
    15,
    `case "V" in prod) echo p;; *) echo other;; esac`,
    `if [ "$V" = prod ]; then echo p; else echo other; fi`,
    "other\n",
  ],
  [16, `export TAG=V; printf '<%s>' "$TAG"`, `printf '<%s>' "$V"`, "<1.4>"],
  [
    17,
    `docker tag app:latest registry.example.com/app:V`,
    `docker tag app:latest registry.example.com/app:$V`,
    "docker<tag><app:latest><registry.example.com/app:1.4>\n",
  ],
  [18, `FILE="V.tar.gz"; echo "\${FILE%.tar.gz}"`, `echo "$V"`, "1.4\n"],
  [19, `grep -F 'V' ../list.txt`, `grep -F "$V" ../list.txt`, "1.4\n"],
  [23, `jq --arg v 'V' '.image = $v' ../f.json`, `jq --arg v "$V" '.image = $v' ../f.json`, '{\n  "image": "1.4"\n}\n'],
  [
    24,
    `kubectl set image deploy/web web=app:V`,
    `kubectl set image deploy/web web=app:$V`,
    "kubectl<set><image><deploy/web><web=app:1.4>\n",
  ],
  [
    25,
    `kubectl patch deploy web -p '{"spec":{"replicas":N}}'`,
    `kubectl patch deploy web -p "{\\"spec\\":{\\"replicas\\":$N}}"`,
    'kubectl<patch><deploy><web><-p><{"spec":{"replicas":4}}>\n',
  ],
  [
    26,
    `helm upgrade web ./chart --set image.tag=V`,
    `helm upgrade web ./chart --set image.tag=$V`,
    "helm<upgrade><web><./chart><--set><image.tag=1.4>\n",
  ],
  [32, `git commit -m 'Release V'`, `git commit -m "Release $V"`, "git<commit><-m><Release 1.4>\n"],
  [33, `printf '%s\\n' 'V' "V" V`, `printf '%s\\n' "$V" "$V" $V`, "1.4\n1.4\n1.4\n"],
  [34, `echo "It's V"`, `echo "It's $V"`, "It's 1.4\n"],
  [35, `echo 'It'"'"'s V'`, `echo "It's $V"`, "It's 1.4\n"],
  [
    36,
    `slack_message='{"text":"Deployed *V* by P"}'; echo "$slack_message"`,
    `printf '{"text":"Deployed *%s* by %s"}\\n' "$V" "$P"`,
    '{"text":"Deployed *1.4* by me"}\n',
  ],
  [
    37,
    `IFS=, read -ra parts <<< 'V'; echo "\${#parts[@]}"`,
    `IFS=, read -ra parts <<< "$V"; echo "\${#parts[@]}"`,
    "1\n",
  ],
  [
    38,
    `while read -r line; do echo "$line"; done <<< "V"`,
    `while read -r line; do echo "$line"; done <<< "$V"`,
    "1.4\n",
  ],
  [39, `arr=('V' "P"); echo "\${arr[0]}"`, `echo "$V"`, "1.4\n"],
  [40, `declare -A m=(['V']=1); echo "\${!m[@]}"`, `declare -A m=(["$V"]=1); echo "\${!m[@]}"`, "1.4\n"],
  [41, `echo "\${UNSET:-V}"`, `echo "$V"`, "1.4\n"],
  [
    42,
    `echo $'tab\\tV'`,
    `echo "$(printf 'tab\\t.')" | sed 's/[.]$//' | tr -d '\\n'; printf '%s\\n' "$V"`,
    "tab\t1.4\n",
  ],
  [43, `# comment with V 'V $(V\necho done`, "echo done", "done\n"],
  [44, `test N -eq 3 && echo three`, `[ "$N" -eq 3 ] && echo three`, ""],
  [45, `sleep N`, `sleep "$N"`, "sleep<4>\n"],
];

const CALCULATED = new Set([10, 11, 12, 14]);

for (const [nth, line, reference, printed] of RUN) {
  test(`line ${nth} takes any value as data: ${line}`, () => {
    const bound = bindScript(withExpressions(line));
    if ("faults" in bound) assert.fail(bound.faults.map(({ message }) => message).join("\n"));
    assert.equal(
      bound.bindings.some(({ type }) => type === "Integer"),
      CALCULATED.has(nth),
    );
    const turns = VALUES.map((V) => ({ V, N: V === "prod" ? "3" : "4", P: V === "1.4" ? "me" : V }));
    const found = bash(
      bound.script,
      turns.map((values) => environment(bound.bindings, values)),
    );
    assert.deepEqual(found, bash(reference, turns), bound.script);
    assert.equal(found[0], printed);
  });
}

/** The line, what its refusal says, the line that it proposes, and the same with shell variables. */
const CODE: readonly (readonly [nth: number, line: string, advice: RegExp, hint: string, reference: string])[] = [
  [
    20,
    `sed "s/__TAG__/V/" ../tpl`,
    /\$\{line\/__TAG__\/"\$v"\}.*awk -v/,
    `while IFS= read -r line; do printf '%s\\n' "\${line/__TAG__/"V"}"; done < ../tpl`,
    `printf 'a %s b\\n' "$V"`,
  ],
  [21, `awk '{print "V", $1}' ../f`, /-v v="\$v"/, `awk -v v="V" '{print v, $1}' ../f`, `printf '%s one\\n' "$V"`],
  [
    22,
    `jq '.image = "V"' ../f.json`,
    /--arg v "\$v"/,
    `jq --arg v "V" '.image = $v' ../f.json`,
    `jq -n --arg v "$V" '{image: $v}'`,
  ],
  [27, `ssh host "deploy V"`, /\$\{v@Q\}/, `v="V"\nssh host "deploy \${v@Q}"`, `deploy "$V"`],
  [28, `bash -c "echo V"`, /bash -c 'echo "\$1"' _ "\$v"/, `bash -c 'echo "$1"' _ "V"`, `echo "$V"`],
  [29, `eval "echo V"`, /\$\{v@Q\}/, `v="V"\neval "echo \${v@Q}"`, `echo "$V"`],
  [
    30,
    `psql -c "select 'V'"`,
    /-v v="\$v" and write :'v'/,
    `psql -v v="V" <<< "select :'v'"`,
    `psql -v v="$V" <<< "select :'v'"`,
  ],
  [
    31,
    `python3 -c "print('V')"`,
    /sys\.argv\[1\]/,
    `python3 -c 'import sys; print(sys.argv[1])' "V"`,
    `printf '%s\\n' "$V"`,
  ],
];

for (const [nth, line, advice, hint, reference] of CODE) {
  test(`line ${nth} is code, and refused with a line that takes any value as data: ${line}`, () => {
    const refused = bindScript(withExpressions(line));
    const [fault] = "faults" in refused ? refused.faults : [];
    assert.match(
      fault?.message ?? "",
      /^Expression <\+pipeline\.variables\.v> cannot stand here: .* would run the value as code/,
    );
    assert.match(fault?.message ?? "", advice);
    assert.equal(fault?.hint, withExpressions(hint));
    const bound = bindScript(withExpressions(hint));
    assert.ok("script" in bound);
    // `awk -v` reads backslashes, as its advice says, and not every awk takes a line break.
    const turns = VALUES.filter((V) => nth !== 21 || !/[\\\n]/.test(V)).map((V) => ({ V }));
    const found = bash(
      bound.script,
      turns.map((values) => environment(bound.bindings, values)),
    );
    assert.deepEqual(found, bash(reference, turns), bound.script);
  });
}

test("all lines are here", () => {
  const found = [...RUN.map(([nth]) => nth), ...CODE.map(([nth]) => nth)].toSorted((a, b) => a - b);
  assert.deepEqual(
    found,
    Array.from({ length: 45 }, (_, at) => at + 1),
  );
});
