/** Encodes a value as JSON or YAML, with or without faults. */
import { stringify } from "yaml";
import type { Chance } from "./chance.ts";

export type Body = { readonly bytes: Buffer; readonly contentType: string | undefined };

const WRONG_TYPES: readonly (string | undefined)[] = [
  undefined,
  "",
  "text/plain",
  "application/xml",
  "application/json; charset=utf-16",
  "application/json; charset=latin1",
  "APPLICATION/JSON",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  'multipart/form-data; boundary="a b"',
  "application/octet-stream",
  "json",
  "a/b/c",
  ";;;",
  `application/json; ${"x".repeat(3_000)}`,
];

export function bodyOf(c: Chance, value: unknown, types: readonly string[], wrong: boolean): Body {
  const type = c.pick(types);
  const text = typeof value === "string" && c.often(80) ? value : written(value, type);
  const bytes = wrong && c.often(30) ? c.pick(type.endsWith("yaml") ? YAML_FAULTS : JSON_FAULTS)(c, text) : text;
  return {
    bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes),
    contentType: wrong && c.often(8) ? c.pick(WRONG_TYPES) : type,
  };
}

function written(value: unknown, type: string): string {
  return type.endsWith("yaml") ? stringify(value, { aliasDuplicateObjects: false }) : JSON.stringify(value);
}

type Fault = (c: Chance, text: string) => string | Buffer;

const insert = (c: Chance, text: string, what: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(text);
  const at = c.upTo(bytes.length);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(what as string), bytes.subarray(at)]);
};

const ANY_FAULTS: readonly Fault[] = [
  (c, text) => text.slice(0, c.upTo(text.length)),
  (c, text) => insert(c, text, Buffer.from([c.pick([0xff, 0xc0, 0x80, 0xed])])),
  (c, text) => insert(c, text, "\0"),
  (_c, text) => `\ufeff${text}`,
  (_c, text) => Buffer.from(text, "utf16le"),
  (_c, text) => `${text} rubbish`,
  (_c, text) => `${text}${text}`,
  (c) => "[".repeat(c.pick([65, 1_000, 50_000])),
  (c) => '{"a":'.repeat(c.pick([65, 1_000, 20_000])),
  () => "",
  () => " ",
  (c, text) => `${text}${" ".repeat(c.pick([10_000, 1_200_000]))}`,
];

const firstMember = (text: string): string => /"[^"]*"\s*:\s*("[^"]*"|\d+|null|true|false)/.exec(text)?.[0] ?? '"a":1';

const JSON_FAULTS: readonly Fault[] = [
  ...ANY_FAULTS,
  (_c, text) => text.replace("{", () => `{${firstMember(text)},`),
  (_c, text) => text.replace("{", () => '{"__proto__":{"polluted":1},'),
  (_c, text) => text.replace(/"([^"]*)"\s*:\s*"/, (all) => `${all}\\ud800`),
  (_c, text) => text.replace(/"([^"]*)"\s*:\s*"/, (all) => `${all}\\u0000`),
  (_c, text) => text.replace(/\d+|true|false|null/, "1e999"),
  (_c, text) => text.replace(/\d+|true|false|null/, "NaN"),
  (_c, text) => text.replace("{", "{/* a comment */"),
  (_c, text) => text.replaceAll('"', "'"),
  (_c, text) => text.replace(/\}$/, ",}"),
  (_c, text) => JSON.stringify(text),
];

const firstKey = (text: string): string => /^\s*[\w]+:/m.exec(text)?.[0] ?? "a:";
const afterKey =
  (what: string): Fault =>
  (_c, text) =>
    text.replace(/: (?=\S)/, () => `: ${what} `);

const YAML_FAULTS: readonly Fault[] = [
  ...ANY_FAULTS,
  (_c, text) => `${firstKey(text)} 1\n${text}`,
  (_c, text) => text.replace(/^( *)(\w+: \S.*)$/m, (all) => `${all}\n${all}`),
  afterKey("&a"),
  afterKey("*a"),
  afterKey("!!js/function"),
  afterKey("!!binary"),
  afterKey("!!set"),
  afterKey("!custom"),
  afterKey("!!float"),
  afterKey("- -"),
  afterKey("|2"),
  afterKey("'"),
  afterKey("{{"),
  afterKey("<+input>"),
  (_c, text) =>
    text.replace(/^( +)(\w+:)/m, (_all, indent: string, key: string) => `${indent}<<: {a: 1}\n${indent}${key}`),
  (_c, text) => `a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n${text}`,
  (_c, text) => `---\n${text}\n---\n${text}`,
  (_c, text) => `%YAML 1.1\n---\n${text}`,
  (_c, text) => `%TAG ! tag:x,2000:\n---\n${text}`,
  (_c, text) => `? [a, b]\n: 1\n${text}`,
  (_c, text) => text.replaceAll(/^ +/gm, (spaces) => "\t".repeat(spaces.length)),
  (_c, text) => text.replaceAll("\n", "\r"),
  (_c, text) => `__proto__: { polluted: 1 }\n${text}`,
];
