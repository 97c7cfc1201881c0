/** The part of XPath that selects by names, positions and equal values. Other functions and axes are refused. */
import { ExpressionError } from "../error.ts";
import type { XmlElement } from "./xml-text.ts";

type Predicate =
  | { readonly kind: "position"; readonly position: number }
  | { readonly kind: "last" }
  | { readonly kind: "equal"; readonly of: Operand; readonly to: string };

type Operand = { readonly kind: "attribute" | "child" | "text"; readonly name: string };

type Step = {
  /** `//`: also below the children. */
  readonly isDeep: boolean;
  /** `*` for each. */
  readonly name: string;
  readonly predicates: readonly Predicate[];
};

type XmlPath = {
  readonly steps: readonly Step[];
  /** What is taken from the elements at the end. */
  readonly result: Operand | undefined;
};

type Place = { readonly at: number; readonly spend: (units: number) => void };

/** The text of the first node that a path selects, in the order of the document; undefined if there is none. */
export function selectXml(path: string, root: XmlElement, place: Place): string | undefined {
  const { steps, result } = pathOf(path, place.at);
  const top: XmlElement = { name: "", attributes: new Map(), children: [root], order: -1 };
  let elements: readonly XmlElement[] = [top];
  for (const step of steps) elements = follow(elements, step, place);
  for (const element of elements) {
    const text = result ? operandOf(element, result)[0] : textOf(element);
    if (text !== undefined) return text;
  }
  return undefined;
}

function follow(elements: readonly XmlElement[], { isDeep, name, predicates }: Step, place: Place): XmlElement[] {
  const found = new Set<XmlElement>();
  for (const element of isDeep ? withDescendants(elements, place) : elements) {
    let children = childrenOf(element).filter((child) => name === "*" || child.name === name);
    for (const predicate of predicates) {
      place.spend(children.length >> 3);
      children = children.filter((...child) => passes(child, predicate));
    }
    for (const child of children) found.add(child);
    place.spend(1 + (element.children.length >> 3));
  }
  return [...found].toSorted((one, other) => one.order - other.order);
}

const childrenOf = (element: XmlElement): readonly XmlElement[] =>
  element.children.filter((child) => typeof child !== "string");

function withDescendants(elements: readonly XmlElement[], { spend }: Place): ReadonlySet<XmlElement> {
  const found = new Set(elements);
  // A set also yields what is added while it is read.
  for (const element of found) {
    for (const child of childrenOf(element)) found.add(child);
    spend(1);
  }
  return found;
}

type Candidate = readonly [element: XmlElement, index: number, all: readonly XmlElement[]];

function passes([element, index, all]: Candidate, predicate: Predicate): boolean {
  if (predicate.kind === "position") return index === predicate.position - 1;
  if (predicate.kind === "last") return index === all.length - 1;
  return operandOf(element, predicate.of).includes(predicate.to);
}

function operandOf(element: XmlElement, { kind, name }: Operand): readonly string[] {
  if (kind === "child") return childrenOf(element).flatMap((child) => (child.name === name ? [textOf(child)] : []));
  if (kind === "text") return element.children.filter((child) => typeof child === "string");
  const value = element.attributes.get(name);
  return value === undefined ? [] : [value];
}

/** All text in an element. */
function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

const STEP =
  /(\/\/|\/|^)(?:([A-Za-z_\u0080-\uffff][-A-Za-z0-9_:.\u0080-\uffff]*)(?![-A-Za-z0-9_:.(\u0080-\uffff])|(\*))/y;
const RESULT = /(?:\/|^)(?:@([A-Za-z_][-A-Za-z0-9_:.]*)|text\(\))$/y;
const PREDICATE =
  /\[(?:(\d{1,6})|(last\(\))|(?:(@)?([A-Za-z_][-A-Za-z0-9_:.]*)|text\(\))\s{0,9}=\s{0,9}(?:'([^']*)'|"([^"]*)"))\]/y;

function pathOf(path: string, call: number): XmlPath {
  const steps: Step[] = [];
  for (let at = 0; at < path.length;) {
    const result = match(RESULT, path, at);
    if (result)
      return { steps, result: { kind: result[1] === undefined ? "text" : "attribute", name: result[1] ?? "" } };
    const step = match(STEP, path, at);
    if (!step) throw wrong(at, call);
    at += step[0].length;
    const predicates: Predicate[] = [];
    for (let found = match(PREDICATE, path, at); found; found = match(PREDICATE, path, at)) {
      predicates.push(predicateOf(found));
      at += found[0].length;
    }
    steps.push({ isDeep: step[1] === "//", name: step[2] ?? "*", predicates });
  }
  if (steps.length === 0) throw wrong(0, call);
  return { steps, result: undefined };
}

function match(pattern: RegExp, path: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(path);
}

function predicateOf([, position, last, at, name, single, double]: RegExpExecArray): Predicate {
  if (position !== undefined) return { kind: "position", position: Number(position) };
  if (last !== undefined) return { kind: "last" };
  const kind = name === undefined ? "text" : at === undefined ? "child" : "attribute";
  return { kind: "equal", of: { kind, name: name ?? "" }, to: single ?? double ?? "" };
}

const wrong = (at: number, call: number): ExpressionError =>
  new ExpressionError(
    "syntax",
    `the XML path is wrong at character ${at + 1}; it has /name, //name, *, @name, text(), [1], [last()], [@id='x']`,
    call,
  );
