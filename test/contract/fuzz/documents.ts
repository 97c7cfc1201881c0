/** Generated pipelines: from the schemas of the language, with fields of the wrong kind, and damaged text. */
import type { z } from "zod";
import { pipelineSchema } from "../../../src/pipelines/index.ts";
import { writeYaml } from "../../../src/platform/document/write.ts";
import { type Chance, RUBBISH_TEXT } from "./chance.ts";

/** Texts of the language. Of a field with rules, the first that fits is taken. */
const PLAIN: readonly string[] = [
  ...["a", "b", "step_1", "Deploy", "linux", "x y", "A_1", "v1.2", "h.example.com", "/srv", "true"],
  ...["10s", "5m", "1h 30m", "1", "2", "Europe/Berlin", "2026-07-03 10:08 AM", "http://example.com/x", "a@example.com"],
  ...[
    "account.key",
    "echo one",
    "echo '<+stage.name>' \"$(date)\"",
    "<+pipeline.name>",
    "<+input>.default(a)",
    "<+[1,2]>",
  ],
];
const SPECIAL: readonly string[] = [
  ...["<+input>", "<+input>.allowedValues(a,b)", "<+input>.regex(a.*)", "<+input>.executionInput()", "<+stage.name>"],
  ...["<+pipeline.variables.a>", "<+step.name>", "<+matrix.a>", "<+repeat.item>", "<+secrets.getValue('key')>"],
  ...["<+trigger.payload.x>", "<+pipeline.stages.a.spec.execution.steps.b.output.x>", "<+a", "<+1 + 2>", "<+true>"],
  ...["<+pipeline.startTs>", "<+<+pipeline.name>.length()>", "[a-z]+", "(a", "*", "%", "7", "90s", "UTC", "org.key"],
  ...["https://example.com/<+pipeline.name>", "if true; then echo; fi", "cat <<'EOF'\n<+pipeline.name>\nEOF\n"],
  ...["((<+pipeline.sequenceId> + 1))", "bash -c 'x <+pipeline.name>'", "exit 1 # ü\n\ttab", "echo \"'"],
];
const NUMBERS = [0, 1, 2, 3, 100, 256, 257, -1, 1.5, 5_001, 9_007_199_254_740_991];
const KEYS = [
  "name",
  "type",
  "spec",
  "parallel",
  "step",
  "stage",
  "strategy",
  "when",
  "constructor",
  "a",
  "üñ",
  "x".repeat(200),
];

type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly entries?: { readonly [key: string]: string };
  readonly values?: readonly unknown[];
  readonly getter?: () => z.ZodType;
};
const defOf = (schema: z.ZodType): Def => schema._zod.def;

type Json = { [key: string]: unknown };

/** How deep values may still nest, and how many there may still be. */
type Room = { readonly depth: number; readonly left: { count: number } };

/** A value for the schema, mostly a right one. */
function valueFor(c: Chance, schema: z.ZodType, room: Room): unknown {
  const { type, innerType, element, valueType, options = [], out, entries = {}, values = [], getter } = defOf(schema);
  room.left.count -= 1;
  switch (type) {
    case "object":
      return objectFor(c, schema, room);
    case "array":
      return Array.from({ length: lengthOf(c, room) }, () => (element ? valueFor(c, element, deeper(room)) : null));
    case "record":
      return valueType ? { [c.pick(["a", "os"])]: valueFor(c, valueType, deeper(room)) } : {};
    case "union":
      return valueFor(c, c.pick(options), room);
    case "optional":
    case "nullable":
    case "default":
    case "readonly":
    case "catch":
      return innerType ? valueFor(c, innerType, room) : null;
    case "pipe":
      // What stands before a transformation is what authors write; before a union it says only the type.
      return out && defOf(out).type !== "transform"
        ? valueFor(c, out, room)
        : valueFor(c, defOf(schema).in as z.ZodType, room);
    case "lazy":
      return getter ? valueFor(c, getter(), room) : null;
    case "enum":
      return c.pick(Object.values(entries));
    case "literal":
      return c.pick(values);
    case "boolean":
      return c.often(50);
    case "number":
    case "int":
      return c.pick(NUMBERS);
    case "string":
      return textFor(c, schema);
    default:
      return type === "null" ? null : c.pick([null, "a", 1, {}, []]);
  }
}

const deeper = ({ depth, left }: Room): Room => ({ depth: depth - 1, left });
const lengthOf = (c: Chance, { depth, left }: Room): number => (depth <= 0 || left.count <= 0 ? 1 : 1 + c.upTo(2));

function textFor(c: Chance, schema: z.ZodType): string {
  const texts = c.often(10) ? SPECIAL : PLAIN;
  const first = c.upTo(texts.length - 1);
  const turned = [...texts.slice(first), ...texts.slice(0, first), ...PLAIN, ...SPECIAL];
  return turned.find((text) => schema.safeParse(text).success) ?? c.pick(texts);
}

/** Of rules for several fields the walk knows nothing: it tries a few times. */
function objectFor(c: Chance, schema: z.ZodType, room: Room): Json {
  for (let tries = 0; tries < 3; tries += 1) {
    const made = anyObjectFor(c, schema, tries === 0 ? room : { ...room, left: { count: 0 } });
    if (schema.safeParse(made).success) return made;
  }
  return anyObjectFor(c, schema, room);
}

function anyObjectFor(c: Chance, schema: z.ZodType, room: Room): Json {
  const { shape = {}, catchall } = defOf(schema);
  const fields = Object.entries(shape).filter(([, field]) => !isNever(field));
  const required = fields.filter(([, field]) => !isOptional(field));
  const optional = fields.filter(([, field]) => isOptional(field));
  // A map with optional fields alone takes one of them, as an item of `steps` does.
  const chosen =
    required.length > 0 ? c.some(optional, room.left.count > 0 ? 20 : 0) : [pickShallow(c, optional, room)];
  const made: Json = {};
  for (const [name, field] of [...required, ...chosen]) made[name] = valueFor(c, field, deeper(room));
  if (catchall && !isNever(catchall)) made[c.pick(["os", "version"])] = valueFor(c, catchall, deeper(room));
  return made;
}

/** The first field nests least: a step before a group before a list. */
function pickShallow<T>(c: Chance, fields: readonly T[], { depth, left }: Room): T {
  return depth <= 8 || left.count <= 0 || c.often(60) ? (fields[0] as T) : c.pick(fields);
}

function isNever(schema: z.ZodType): boolean {
  const { type, innerType } = defOf(schema);
  return type === "never" || (innerType !== undefined && isNever(innerType));
}

function isOptional(schema: z.ZodType): boolean {
  const { type, innerType } = defOf(schema);
  return (
    type === "optional" ||
    type === "default" ||
    (type === "nullable" && innerType !== undefined && isOptional(innerType))
  );
}

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** All maps and lists of a value. */
function containersIn(value: unknown): readonly (Json | unknown[])[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Json, ...Object.values(value).flatMap(containersIn)];
}

const RUBBISH: readonly unknown[] = [
  ...RUBBISH_TEXT.map((text) => text.toWellFormed().replaceAll("\0", "")),
  ...NUMBERS,
  1e300,
  null,
  true,
  [],
  {},
  [[]],
];

/** Changes a value in place: removes, replaces, renames, repeats or moves a part. */
function damage(c: Chance, value: unknown): void {
  const containers = containersIn(value);
  const at = c.pick(containers);
  const keys = Object.keys(at);
  const key = keys.length > 0 ? c.pick(keys) : "a";
  const other = c.pick(containers);
  const part = (at as Json)[key];
  switch (c.upTo(6)) {
    case 0:
      if (Array.isArray(at)) at.splice(Number(key), 1);
      else delete at[key];
      break;
    case 1:
      if (isMap(at)) at[c.pick(KEYS)] = structuredClone(part);
      break;
    case 2:
      if (Array.isArray(at)) at.push(structuredClone(part));
      else at[key] = [part, structuredClone(part)];
      break;
    case 3:
      (at as Json)[key] = structuredClone(Object.values(other)[0] ?? null);
      break;
    case 4:
      (at as Json)[key] = c.pick([...PLAIN, ...SPECIAL]);
      break;
    default:
      (at as Json)[key] = c.pick(RUBBISH);
  }
}

/** The text with a few characters removed, repeated or put in. */
function damageText(c: Chance, text: string): string {
  const at = c.upTo(text.length);
  const length = c.upTo(20);
  const piece = text.slice(at, at + length);
  const put = c.pick([
    "",
    piece + piece,
    "\n",
    ":",
    "- ",
    "&a ",
    "*a ",
    "!x ",
    "{",
    "]",
    "'",
    '"',
    "\t",
    "#",
    "|\n",
    "? ",
    "<<: *a\n",
    "---\n",
    "é",
  ]);
  return `${text.slice(0, at)}${put}${text.slice(at + (c.often(50) ? length : 0))}`;
}

export type GeneratedDocument = {
  readonly identifier: string;
  readonly text: string;
  readonly format: "yaml" | "json";
};

/** Existing things that references may name. */
export type Named = { readonly serviceRef: string; readonly environmentRef: string };

const BARRIER = "barrier";

/** `nth` makes the identifier; damaged documents may have another one. */
export function documentFor(c: Chance, nth: number, named: Named): GeneratedDocument {
  const identifier = `fuzz_${nth}`;
  const pipeline = valueFor(c, pipelineSchema("saved"), { depth: 20, left: { count: 150 } }) as Json;
  delete pipeline["orgIdentifier"];
  delete pipeline["projectIdentifier"];
  const flowControl = { barriers: [{ identifier: BARRIER, name: "B" }] };
  withNames(pipeline, { ...named, barrierRef: BARRIER });
  withUniqueNames(pipeline, { next: 0 });
  const document = { pipeline: { ...pipeline, identifier, name: "Fuzz", flowControl } };
  for (let times = c.pick([0, 0, 0, 1, 1, 2, 4]); times > 0; times -= 1) damage(c, document);
  const format = c.pick(["yaml", "json"] as const);
  const text = format === "json" ? JSON.stringify(document) : writeYaml(document);
  return { identifier, text: c.often(10) ? damageText(c, text) : text, format };
}

function withNames(document: unknown, named: { readonly [field: string]: string }): void {
  for (const map of containersIn(document).filter(isMap))
    for (const [field, value] of Object.entries(named)) if (typeof map[field] === "string") map[field] = value;
}

/** Names that have to differ in their list, which the schema does not say. */
function withUniqueNames(value: unknown, counter: { next: number }): void {
  for (const list of containersIn(value).filter(Array.isArray))
    for (const item of list as unknown[]) {
      const own = isMap(item)
        ? ([item["stage"], item["step"], item["stepGroup"], item].find(isMap) as Json)
        : undefined;
      if (!own) continue;
      counter.next += 1;
      if (typeof own["identifier"] === "string") own["identifier"] = `i${counter.next}`;
      else if (typeof own["name"] === "string") own["name"] = `n${counter.next}`;
    }
}
