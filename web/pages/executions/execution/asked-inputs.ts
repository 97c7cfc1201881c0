import { isMap, isScalar, parseDocument, visit, type Document, type Node, type Scalar } from "yaml";

/** A value that a template asks for. */
export type AskedInput = {
  /** Tells it from the others. */
  readonly path: string;
  readonly label: string;
  readonly initial: string;
  readonly choices: readonly string[] | undefined;
  readonly pattern: string | undefined;
};

const INPUT = "<+input>";

/** The values that the template asks for, in their order. */
export function askedInputs(template: string): readonly AskedInput[] {
  const asked: AskedInput[] = [];
  eachInput(parseDocument(template), (scalar, path) => {
    const modifiers = String(scalar.value);
    const choices = argumentsOf(modifiers, "selectOneFrom") ?? argumentsOf(modifiers, "allowedValues");
    asked.push({
      path: `${asked.length}`,
      label: labelOf(path),
      initial: argumentsOf(modifiers, "default")?.join(",") ?? "",
      choices: choices?.map((text) => text.trim()),
      pattern: argumentsOf(modifiers, "regex")?.join(","),
    });
  });
  return asked;
}

/** The template with these values in place of what it asks for. Numbers and booleans stay what their texts say. */
export function fillTemplate(template: string, values: readonly string[]): string {
  const document = parseDocument(template);
  let index = 0;
  eachInput(document, (scalar, path) => {
    const value = values[index] ?? "";
    index += 1;
    scalar.value = isNumber(path) && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
    delete scalar.source;
    delete scalar.type;
  });
  return String(document);
}

type Path = readonly (Document | Node | { readonly key: unknown })[];

function eachInput(document: Document.Parsed, found: (scalar: Scalar, path: Path) => void): void {
  visit(document, {
    Scalar: (key, scalar, path) => {
      if (key === "key" || typeof scalar.value !== "string" || !scalar.value.startsWith(INPUT)) return;
      found(scalar, path);
    },
  });
}

/** The name that stands beside a value, as in lists of variables; otherwise the key of the value. */
function labelOf(path: Path): string {
  const name = siblingOf(path, "name");
  if (name !== undefined) return name;
  const pair = path.at(-1);
  const key = pair !== undefined && "key" in pair ? pair.key : undefined;
  return isScalar(key) ? String(key.value) : "Value";
}

const isNumber = (path: Path): boolean => siblingOf(path, "type") === "Number";

function siblingOf(path: Path, key: string): string | undefined {
  const map = path.at(-2);
  if (!isMap(map)) return undefined;
  const value = map.get(key);
  return typeof value === "string" ? value : undefined;
}

/** The arguments of a modifier: those of selectOneFrom(eu,us) are eu and us. */
function argumentsOf(text: string, modifier: string): readonly string[] | undefined {
  const start = text.indexOf(`.${modifier}(`);
  if (start === -1) return undefined;
  let depth = 0;
  for (let at = start + modifier.length + 1; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return text.slice(start + modifier.length + 2, at).split(",");
  }
  return undefined;
}
