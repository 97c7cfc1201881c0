/**
 * Reads XML texts that come from outside: elements, attributes, text, CDATA, comments, and the five entities of the
 * standard. A document type, with which entities are declared and files are named, is refused.
 */
import { MAX_DOCUMENT_DEPTH } from "../limits.ts";
import type { Refuse } from "./json-text.ts";

export type XmlElement = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly (XmlElement | string)[];
  /** Counts the elements of the document from its beginning. */
  readonly order: number;
};

type OpenElement = XmlElement & { readonly children: (XmlElement | string)[] };

type Reader = {
  readonly text: string;
  readonly refuse: Refuse;
  readonly spend: (units: number) => void;
  at: number;
  elements: number;
};

const NAME = /[A-Za-z_:\u0080-\uffff][-A-Za-z0-9_:.\u0080-\uffff]*/y;
const BLANKS = /[ \t\r\n]*/y;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
const UNITS_PER_ELEMENT = 3;
/** Characters of the longest reference, `&#1114111;`. */
const MAX_REFERENCE = 12;

/** The root element. Throws what `refuse` makes. */
export function parseXml(text: string, refuse: Refuse, spend: (units: number) => void): XmlElement {
  const reader: Reader = { text, refuse, spend, at: text.startsWith("\ufeff") ? 1 : 0, elements: 0 };
  skipMisc(reader);
  if (text[reader.at] !== "<") throw fault(reader, "an element is missing");
  const root = elementAt(reader);
  skipMisc(reader);
  if (reader.at < text.length) throw fault(reader, "something follows the root element");
  return root;
}

const fault = (reader: Reader, message: string): Error =>
  reader.refuse(`is not XML, at character ${reader.at + 1}: ${message}`);

function matched(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const text = pattern.exec(reader.text)?.[0] ?? "";
  reader.at += text.length;
  return text;
}

function accept(reader: Reader, text: string): boolean {
  if (!reader.text.startsWith(text, reader.at)) return false;
  reader.at += text.length;
  return true;
}

/** What stands before `end`, which is passed. */
function until(reader: Reader, end: string, what: string): string {
  const found = reader.text.indexOf(end, reader.at);
  if (found < 0) throw fault(reader, `${what} has no end`);
  const text = reader.text.slice(reader.at, found);
  reader.at = found + end.length;
  return text;
}

/** Comments, processing instructions and blanks. */
function skipMisc(reader: Reader): void {
  do matched(reader, BLANKS);
  while (skipNote(reader));
  if (reader.text.startsWith("<!", reader.at)) {
    throw fault(reader, "a document type is not read");
  }
}

function skipNote(reader: Reader): boolean {
  if (accept(reader, "<!--")) until(reader, "-->", "a comment");
  else if (accept(reader, "<?")) until(reader, "?>", "an instruction");
  else return false;
  reader.spend(1);
  return true;
}

/** Elements inside each other are kept in a list, so that no depth can exhaust the stack. */
function elementAt(reader: Reader): XmlElement {
  const open: OpenElement[] = [];
  for (;;) {
    if (open.length > MAX_DOCUMENT_DEPTH) throw reader.refuse(`nests deeper than ${MAX_DOCUMENT_DEPTH}`);
    const parent = open.at(-1);
    const element = tagOrContent(reader, parent);
    if (!element) continue;
    if (element === parent) open.pop();
    else {
      parent?.children.push(element);
      if (!isClosed(reader)) open.push(element);
    }
    if (open.length === 0) return element;
  }
}

/** Passes the `>` or `/>` of a tag; true for the latter. */
function isClosed(reader: Reader): boolean {
  if (accept(reader, "/>")) return true;
  if (!accept(reader, ">")) throw fault(reader, "a tag has no end");
  return false;
}

/** The element that begins or ends here; undefined where content of the parent was read. */
function tagOrContent(reader: Reader, parent: OpenElement | undefined): OpenElement | undefined {
  if (parent && accept(reader, "</")) {
    const name = matched(reader, NAME);
    matched(reader, BLANKS);
    if (name !== parent.name) throw fault(reader, "the tag ends another element");
    if (!accept(reader, ">")) throw fault(reader, "a tag has no end");
    return parent;
  }
  if (parent && accept(reader, "<![CDATA[")) {
    parent.children.push(until(reader, "]]>", "CDATA"));
    return undefined;
  }
  if (skipNote(reader)) return undefined;
  if (accept(reader, "<")) return openElement(reader);
  if (!parent) throw fault(reader, "an element is missing");
  parent.children.push(textContent(reader));
  return undefined;
}

function openElement(reader: Reader): OpenElement {
  const name = matched(reader, NAME);
  if (name === "") throw fault(reader, "a name is missing after <");
  const attributes = new Map<string, string>();
  for (;;) {
    const blanks = matched(reader, BLANKS);
    const key = matched(reader, NAME);
    if (key === "") break;
    if (blanks === "") throw fault(reader, "a blank is missing before an attribute");
    if (attributes.has(key)) throw fault(reader, "the attribute stands twice");
    reader.spend(1);
    attributes.set(key, attributeValue(reader));
  }
  reader.spend(UNITS_PER_ELEMENT);
  return { name, attributes, children: [], order: reader.elements++ };
}

function attributeValue(reader: Reader): string {
  matched(reader, BLANKS);
  if (!accept(reader, "=")) throw fault(reader, "an attribute has no value");
  matched(reader, BLANKS);
  const quote = ['"', "'"].find((one) => accept(reader, one));
  if (quote === undefined) throw fault(reader, "the value of an attribute stands in no quotes");
  const value = until(reader, quote, "the value of an attribute");
  if (value.includes("<")) throw fault(reader, "the value of an attribute has a <");
  return decoded(reader, value);
}

function textContent(reader: Reader): string {
  reader.spend(1);
  const end = reader.text.indexOf("<", reader.at);
  if (end < 0) throw fault(reader, "an element has no end");
  const text = reader.text.slice(reader.at, end);
  reader.at = end;
  return decoded(reader, text);
}

/** The text with its references replaced, in one pass. */
function decoded(reader: Reader, text: string): string {
  if (!text.includes("&")) return text;
  const pieces: string[] = [];
  let done = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", done)) {
    const end = text.slice(at, at + MAX_REFERENCE).indexOf(";");
    const value = end < 0 ? undefined : referenceValue(text.slice(at + 1, at + end));
    if (value === undefined) throw fault(reader, "a & begins no known reference");
    reader.spend(1);
    pieces.push(text.slice(done, at), value);
    done = at + end + 1;
  }
  return pieces.join("") + text.slice(done);
}

function referenceValue(name: string): string | undefined {
  const hex = /^#x([0-9A-Fa-f]{1,6})$/.exec(name);
  const decimal = /^#([0-9]{1,7})$/.exec(name);
  if (!hex && !decimal) return ENTITIES.get(name);
  const code = hex ? Number.parseInt(hex[1] ?? "", 16) : Number(decimal?.[1]);
  const isChar = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isChar ? String.fromCodePoint(code) : undefined;
}
