import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { MASK } from "./marks.ts";
import { createMasker, type Masker } from "./masker.ts";
import { createMatcher } from "./matcher.ts";

const maskerOf = (...values: readonly (string | Buffer)[]): Masker =>
  createMasker(createMatcher(values.map((value) => Buffer.from(value))));

/** All that comes out when the pieces go in, one after the other. */
const through = (masker: Masker, pieces: readonly (string | Buffer)[]): string =>
  Buffer.concat([...pieces.map((piece) => masker.push(Buffer.from(piece))), masker.end()]).toString("latin1");

const masked = (value: string | Buffer, output: string | Buffer): string => through(maskerOf(value), [output]);

function cut(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((start, nth) => bytes.subarray(start, places[nth]));
}

/** Secrets as they are: every character that some encoding treats in its own way, often. */
const character = fc.constantFrom(..."abcXYZ019 '\"\\/+=&?%$`!#~:;,.<>(){}[]*-_@|^\t€ü");
const secret = fc
  .array(character, { minLength: 4, maxLength: 40 })
  .map((characters) => characters.join(""))
  // Blanks around a line belong to the text around it.
  .filter((text) => text.trim().length >= 6 && text.trim() === text);
const lines = fc.array(secret, { minLength: 2, maxLength: 4 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });
const filler = fc.string({ maxLength: 20 });

const ENCODINGS: Readonly<Record<string, (text: string, before: string, after: string) => string>> = {
  plain: (text, before, after) => before + text + after,
  "base64, inside of longer data": (text, before, after) => Buffer.from(before + text + after).toString("base64"),
  "base64url, inside of longer data": (text, before, after) => Buffer.from(before + text + after).toString("base64url"),
  "hex, small": (text) => Buffer.from(text).toString("hex"),
  "hex, capital": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "URL component": (text) => encodeURIComponent(text),
  "URL component, small hex": (text) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  "form of a web page": (text) => new URLSearchParams({ x: text }).toString().slice(2),
  "every byte percent-encoded": (text) => Buffer.from(text).toString("hex").toUpperCase().replaceAll(/../g, "%$&"),
  JSON: (text) => JSON.stringify({ x: text }),
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "JSON in ASCII": (text) =>
    JSON.stringify(text).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  XML: (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  "XML with numbers": (text) =>
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&#34;")
      .replaceAll("'", "&#39;"),
  "wrapped base64": (text) => Buffer.from(text).toString("base64").replaceAll(/.{7}/g, "$&\n"),
  "wrapped with CRLF": (text) => text.replaceAll(/.{5}/g, "$&\r\n"),
};

/** The text that must not appear: the value, or its own characters in the encoding. */
function telling(name: string, text: string): string {
  if (name.startsWith("base64")) return Buffer.from(text).toString("base64").slice(0, -4).slice(4);
  if (name.startsWith("wrapped b")) return Buffer.from(text).toString("base64").slice(0, 7);
  if (name.startsWith("wrapped")) return text.slice(0, 5);
  const encoded = ENCODINGS[name]?.(text, "", "") ?? "";
  return name === "JSON"
    ? encoded.slice(6, -2)
    : name === "JSON in JSON"
      ? encoded.slice(3, -3)
      : encoded.replaceAll('"', "");
}

for (const [name, encode] of Object.entries(ENCODINGS)) {
  test(`property: ${name}: cut anywhere, nothing of the secret is left`, () => {
    fc.assert(
      fc.property(secret, filler, filler, cuts, (text, before, after, at) => {
        const output = Buffer.from(`out: ${encode(text, before, after)}\nend\n`);
        const shown = through(maskerOf(text), cut(output, at));
        assert.ok(shown.includes(MASK), `nothing was masked in ${JSON.stringify(shown)}`);
        const never = Buffer.from(telling(name, text)).toString("latin1");
        if (never.length >= 4) assert.ok(!shown.replaceAll(MASK, "").includes(never), `${shown} shows ${never}`);
        assert.ok(shown.startsWith("out: ") && shown.endsWith("end\n"), shown);
      }),
      { numRuns: 300 },
    );
  });
}

test("property: each line of a value at any place, alone and in base64", () => {
  fc.assert(
    fc.property(lines, fc.constantFrom("\n", "\r\n"), cuts, (all, ending, at) => {
      const masker = () => maskerOf(all.join(ending) + ending);
      for (const line of all) {
        const shown = through(masker(), cut(Buffer.from(`\v${line}\v`), at));
        assert.equal(shown, `\v${MASK}\v`);
        const coded = Buffer.from(`user:${line}`).toString("base64");
        assert.ok(through(masker(), cut(Buffer.from(coded), at)).includes(MASK));
      }
      const whole = through(masker(), cut(Buffer.from(`<${all.join("\n")}>`), at));
      assert.equal(whole, `<${MASK}>`);
    }),
    { numRuns: 200 },
  );
});

test("property: how the output was cut makes no difference", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "ab", "abab", "\n", "x"), { maxLength: 60 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      text,
      fc.array(fc.constantFrom("abab", "babab", "aabb", "xaba"), { minLength: 1 }),
      cuts,
      (all, values, at) => {
        assert.equal(through(maskerOf(...values), cut(Buffer.from(all), at)), through(maskerOf(...values), [all]));
      },
    ),
    { numRuns: 1000 },
  );
});

test("property: what overlaps goes as a whole, everything else comes through byte for byte", () => {
  const text = fc.array(fc.constantFrom("k", "l", "m", "kl", "lm"), { maxLength: 60 }).map((parts) => parts.join(""));
  const values = fc.uniqueArray(fc.constantFrom("klkl", "lmkl", "klmk", "mmmm", "lklmk"), { minLength: 1 });
  fc.assert(
    fc.property(text, values, cuts, (all, secrets, at) => {
      assert.equal(through(maskerOf(...secrets), cut(Buffer.from(all), at)), slowly(all, secrets));
    }),
    { numRuns: 2000 },
  );
});

/** The same by the definition: mark every occurrence, then replace what overlaps by one mask. */
function slowly(text: string, secrets: readonly string[]): string {
  const spans = secrets
    .flatMap((one) =>
      Array.from({ length: text.length }, (_, at) => at)
        .filter((at) => text.startsWith(one, at))
        .map((at) => [at, at + one.length] as const),
    )
    .toSorted(([a], [b]) => a - b);
  let out = "";
  let done = 0;
  for (let nth = 0; nth < spans.length;) {
    const [start, first] = spans[nth] ?? [0, 0];
    let end = first;
    nth += 1;
    for (let next = spans[nth]; next && next[0] < end; next = spans[nth]) {
      end = Math.max(end, next[1]);
      nth += 1;
    }
    out += text.slice(done, start) + MASK;
    done = end;
  }
  return out + text.slice(done);
}

test("property: released at any moment, at most three characters or a quarter of a secret show", () => {
  fc.assert(
    fc.property(secret, cuts, cuts, (text, at, releases) => {
      const masker = maskerOf(text);
      const value = Buffer.from(text);
      const shown = cut(Buffer.concat([Buffer.from("<"), value, Buffer.from(">")]), at).flatMap((piece, nth) => [
        masker.push(piece),
        ...(releases.includes(nth) || nth % 2 === 0 ? [masker.release()] : []),
      ]);
      const all = Buffer.concat([...shown, masker.end()]).toString("latin1");
      const allowed = Math.max(3, Math.ceil(value.length / 4) - 1);
      const [before = ""] = all.slice(1).split(MASK);
      assert.ok(all.includes(MASK), all);
      assert.ok(before.length <= allowed, `${before.length} characters of ${text} show`);
    }),
    { numRuns: 500 },
  );
});

test("only what may begin a secret waits, and a released beginning is masked from there on", () => {
  const masker = maskerOf("hunter2");
  assert.equal(masker.push(Buffer.from("login as hu")).toString(), "login as ");
  assert.equal(masker.release().toString(), "hu");
  assert.equal(masker.push(Buffer.from("nter2!")).toString(), `${MASK}!`);
  assert.equal(masker.push(Buffer.from("hunt")).toString(), "");
  assert.equal(masker.release().toString(), "");
  assert.equal(masker.push(Buffer.from("ing")).toString(), "hunting");
});

test("a secret that is complete does not wait for what follows", () => {
  const masker = maskerOf("hunter2", "hunter2 and more");
  assert.equal(masker.push(Buffer.from("password=hunter2")).toString(), `password=${MASK}`);
  assert.equal(masker.push(Buffer.from(" and mo")).toString(), "");
  assert.equal(masker.push(Buffer.from("re; hunter2\n")).toString(), `; ${MASK}`);
});

test("the tail is always returned, and a secret that was cut off in its second half is not shown", () => {
  assert.equal(masked("correct horse battery", "end: corr"), "end: corr");
  assert.equal(masked("correct horse battery", "end: correct horse b"), `end: ${MASK}`);
});

test("at a torn end no beginning of a secret is shown, however long it is and in whatever form", () => {
  const value = "Zk9-wQ4xT7_pL2mB8vN3rY6c".repeat(10);
  const wrapped = Buffer.from(value)
    .toString("base64")
    .replaceAll(/(.{76})/g, "$1\n");
  const forms = [value, wrapped, Buffer.from(value).toString("hex")];
  const torn = (text: string, value: string): string => {
    const masker = maskerOf(value);
    return Buffer.concat([masker.push(Buffer.from(text)), masker.end(true)]).toString();
  };
  for (const form of forms)
    for (let length = 1; length <= form.length; length += 1)
      assert.equal(torn(`end: ${form.slice(0, length)}`, value).trimEnd(), `end: ${MASK}`, `${length} of ${form}`);
  const dump = "00000000: 636f 7272 6563 7420 686f 7273 6520 6261  correct horse ba";
  for (let length = 1; length <= dump.length; length += 1)
    assert.equal(torn(`\n${dump.slice(0, length)}`, "correct horse battery"), `\n${MASK}`, dump.slice(0, length));
  assert.equal(torn("end: corr\n", "correct horse battery"), `end: ${MASK}\n`);
  assert.equal(torn("done\n", "correct horse battery"), "done\n");
});

test("short values, and short lines of longer ones, do not wreck the output", () => {
  const yaml = "{\n  a\n  true\n  user\n  the real secret\n}\n";
  const output = "if true { a user } then\n";
  assert.equal(masked(yaml, output), output);
  assert.equal(masked(yaml, "the real secret"), MASK);
  assert.equal(masked("abc", "abc a b c"), "abc a b c");
  assert.equal(masked("\n\n", "\n\n"), "\n\n");
  assert.equal(masked(yaml, yaml), MASK + "\n");
});

test("a value is found over one line break, as pipes put them in, and not over an empty line or two", () => {
  assert.equal(masked("hunter2", "hun\nter2 hun\r\nter2"), `${MASK} ${MASK}`);
  assert.equal(masked("hunter2", "hun\n\n\nter2"), "hun\n\n\nter2");
});

test("a value is found over control sequences of terminals, as grep --color puts them in, and in UTF-16", () => {
  const value = "hunter2 [and] more";
  for (const word of ["nter", "hunter2 [and] more", "e", "["]) {
    const { stdout } = spawnSync("grep", ["-F", "--color=always", word], { input: `<${value}>\n` });
    assert.notEqual(stdout.toString(), `<${value}>\n`);
    for (let at = 0; at <= stdout.length; at += 1) {
      const shown = through(maskerOf(value), cut(stdout, [at, at + 3]));
      assert.equal(shown.replaceAll(/\x1b\[[0-9;]*[mK]/g, ""), `<${MASK}>\n`);
    }
  }
  for (const start of [0, 1])
    assert.equal(
      masked(value, Buffer.from(`<${value}>`, "utf16le").subarray(start)).replaceAll("\0", ""),
      start === 0 ? `<${MASK}>` : `${MASK}>`,
    );
  const escape = "\x1b]0;title\x1b\x1b[1mend";
  assert.equal(masked(escape, `a${escape}b`), `a${MASK}b`);
});

test("bytes that are no text, and a key of several lines", () => {
  const bytes = Buffer.from([255, 128, 0, 7, 200, 13, 0, 9]);
  assert.equal(masked(bytes, Buffer.concat([Buffer.from("<"), bytes, Buffer.from(">")])), `<${MASK}>`);
  const key = `-----BEGIN KEY-----\n${"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw\n".repeat(3)}-----END KEY-----\n`;
  assert.equal(masked(key, `${key}done\n`), `${MASK}\ndone\n`);
});

/** `count` lines of base64 that look like a key's, each another one. */
const keyLines = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) =>
    createHash("sha256").update(String(nth)).digest("base64").padEnd(64, "AbCd"),
  );

test("of a value above 64 KiB each line is found up to 1 MiB, at any place", () => {
  const lines = keyLines(16_000);
  const text = lines.join("\n");
  assert.ok(text.length > 1_000_000 && text.length < 1_048_576);
  const masker = maskerOf(text);
  for (const nth of [0, 1_000, 1_007, 1_009, 9_999, 15_999])
    assert.equal(through(masker, [`<${lines[nth]}>`]), `<${MASK}>`, `line ${nth}`);
  const shown = through(maskerOf(text), [`<${lines.slice(900).join("\r\n")}>`]);
  assert.equal(shown.replaceAll(MASK, "").replaceAll(/[\r\n]/g, ""), "<>");
});

test("of a value above 64 KiB without line breaks nothing is left when it is printed, and next to nothing of a part", () => {
  const bytes = Buffer.concat(keyLines(4_500).map((line) => createHash("sha512").update(line).digest()));
  const value = Buffer.from(bytes.map((byte) => (byte === 10 || byte === 13 ? 0 : byte)));
  assert.ok(value.length > 256 * 1024);
  const whole = masked(value, Buffer.concat([Buffer.from("<"), value, Buffer.from(">")]));
  assert.equal(whole.replaceAll(MASK, "").replaceAll("\0", ""), "<>");
  const part = value.subarray(200_001, 210_001);
  const left = masked(value, part).replaceAll(MASK, "");
  assert.ok(left.length < 64, `${left.length} bytes are left`);
});

test("the earlier bytes of a stream count for the following ones", () => {
  const matcher = createMatcher([Buffer.from("hunter2")]);
  assert.equal(createMasker(matcher, Buffer.from("x hunt")).push(Buffer.from("er2 y")).toString(), `${MASK} y`);
  assert.equal(createMasker(matcher, Buffer.from("x hunter2")).push(Buffer.from(" y")).toString(), " y");
});

test("memory is bound by the longest form of a secret, however much is printed", () => {
  const masker = maskerOf("correct horse battery staple");
  const piece = Buffer.from(`${"correct horse battery stapl".repeat(20)}\n`);
  for (let nth = 0; nth < 500; nth += 1) {
    masker.push(piece);
    assert.ok(masker.pending() < 512, `${masker.pending()} bytes wait`);
  }
});

const AWKWARD = [
  "it's",
  `a "quoted" 'value' here`,
  "back\\slash $HOME `id` !x",
  "#first ~second",
  "tab\tand € sign",
  "a=~b:~c",
];

test("as Bash writes it: set -x, printf %q, @Q, declare -p, export -p", () => {
  for (const value of [...AWKWARD, "two words\nand lines", "bell\u0007 and \u001b escape"]) {
    if (value.length < 6) continue;
    const script = `set -x; : "$S"; : "x$S"; set +x; printf '%q\\n' "$S"; printf '%s\\n' "\${S@Q}"; declare -p S; export -p | grep -A1 ' S='`;
    for (const locale of ["C", "C.UTF-8"]) {
      const ran = spawnSync("bash", ["--norc", "-c", script], {
        env: { S: value, LC_ALL: locale, HOME: "/nonexistent", PATH: process.env["PATH"] },
      });
      const printed = Buffer.concat([ran.stderr, ran.stdout]);
      const shown = masked(value, printed);
      const told = `${printed.toString()}\nbecame\n${shown}`;
      const count = shown.split(MASK).length - 1;
      assert.ok(count >= 5, `${JSON.stringify(value)} in ${locale}: ${told}`);
      for (const word of value.split(/[^A-Za-z]+/).filter(({ length }) => length > 4))
        assert.ok(!shown.includes(word), `${word} is left: ${told}`);
    }
  }
});
