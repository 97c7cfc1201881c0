import { isMap, isPair, isScalar, isSeq, parseDocument, type Document, type Pair } from "yaml";

export type Snippet = {
  readonly place: "stages" | "steps" | "step";
  readonly yaml: string;
  /** Fields that the pipeline needs for it. */
  readonly pipelineYaml: string | null;
};

/** A text to put into the document in place of `length` characters. */
export type Insertion = { readonly at: number; readonly length: number; readonly text: string };

/**
 * 1. Find the list around `offset`, or the last one of the document. 2. Put the piece behind the item of `offset`, with
 * the indentation of the list and with identifiers that are free. Undefined if the document has no such place.
 */
export function insertSnippet(source: string, offset: number, { place, yaml }: Snippet): Insertion | undefined {
  const document = parseDocument(source);
  const piece = withFreeIdentifiers(yaml, source).trimEnd();
  if (place === "step") return intoStep(source, document, { offset, piece });
  const names = place === "stages" ? ["stages"] : ["steps", "rollbackSteps"];
  const lists = pairsOf(document).filter(({ key }) => isScalar(key) && names.includes(String(key.value)));
  const list = lists.findLast(({ key, value }) => contains(key, value, offset)) ?? lists.at(-1);
  return list === undefined ? undefined : intoList(source, list, { offset, piece });
}

/** Where the fields go that the snippet needs; undefined if the pipeline has them, or is none. */
export function insertPipelineFields(source: string, fields: string): Insertion | undefined {
  const pipeline = parseDocument(source).get("pipeline");
  const names = parseDocument(fields).contents;
  if (!isMap(pipeline) || !isMap(names)) return undefined;
  if (names.items.some(({ key }) => isScalar(key) && pipeline.has(key.value))) return undefined;
  return behind(source, endOf(pipeline), indent(fields.trimEnd(), columnOf(source, startOf(pipeline))));
}

type Where = { readonly offset: number; readonly piece: string };

function intoList(source: string, { key, value }: Pair, { offset, piece }: Where): Insertion {
  const keyColumn = isScalar(key) ? columnOf(source, startOf(key)) : 0;
  if (!isSeq(value) || value.items.length === 0)
    return {
      at: isSeq(value) ? startOf(value) : lineEnd(source, startOf(key)),
      // An empty list is written as `[]`, which the piece replaces.
      length: isSeq(value) ? endOf(value) - startOf(value) : 0,
      text: `\n${indent(piece, keyColumn + 2)}`,
    };
  const item = value.items.findLast((one) => startOf(one) <= offset) ?? value.items.at(-1);
  return behind(source, endOf(item), indent(piece, columnOf(source, startOf(value))));
}

function intoStep(source: string, document: Document, { offset, piece }: Where): Insertion | undefined {
  const steps = pairsOf(document).filter(
    ({ key, value }) => isScalar(key) && ["step", "stepGroup", "stage"].includes(String(key.value)) && isMap(value),
  );
  const step = steps.findLast(({ key, value }) => contains(key, value, offset))?.value;
  return isMap(step) ? behind(source, endOf(step), indent(piece, columnOf(source, startOf(step)))) : undefined;
}

/** All pairs, the outer ones before the inner ones. */
function pairsOf(document: Document): readonly Pair[] {
  const found: Pair[] = [];
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      found.push(node);
      visit(node.value);
    } else if (isMap(node) || isSeq(node)) for (const item of node.items) visit(item);
  };
  visit(document.contents);
  return found;
}

type Ranged = { readonly range?: readonly [number, number, number] | null };
const startOf = (node: unknown): number => (node as Ranged | null)?.range?.[0] ?? 0;
const endOf = (node: unknown): number => (node as Ranged | null)?.range?.[1] ?? 0;
const contains = (key: unknown, value: unknown, offset: number): boolean =>
  startOf(key) <= offset && offset <= ((value as Ranged | null)?.range?.[2] ?? endOf(key));

const columnOf = (source: string, offset: number): number => offset - (source.lastIndexOf("\n", offset - 1) + 1);

function lineEnd(source: string, offset: number): number {
  const end = source.indexOf("\n", offset);
  return end === -1 ? source.length : end;
}

/** A new line after the one in which the part ends. */
function behind(source: string, end: number, text: string): Insertion {
  // The end of a block text is the beginning of the next line.
  const last = source[end - 1] === "\n" ? end - 1 : end;
  return { at: lineEnd(source, last), length: 0, text: `\n${text}` };
}

const indent = (text: string, columns: number): string => text.replaceAll(/^(?=.)/gm, " ".repeat(columns));

function withFreeIdentifiers(yaml: string, source: string): string {
  const taken = new Set([...source.matchAll(/\bidentifier:\s*["']?([\w$]+)/g)].map(([, name]) => name));
  return yaml.replaceAll(/\b(identifier:\s*)([\w$]+)/g, (_, before: string, name: string) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
    taken.add(free);
    return `${before}${free}`;
  });
}
