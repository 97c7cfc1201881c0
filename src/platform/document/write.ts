import { Document, Scalar, visit } from "yaml";
import { UNPRINTABLE } from "./text.ts";

const UNPRINTABLES = new RegExp(UNPRINTABLE, "g");

/**
 * A value of JSON's types as YAML that `parseDocument` reads back as the same value.
 *
 * The library writes DEL, C1 and the non-characters of the basic plane as they are, which no document may have, and
 * loses spaces of lines that consist of spaces alone. Such texts are quoted here, and the characters escaped.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 }).replace(UNPRINTABLES, escaped);
}

const needsQuotes = (text: string): boolean => UNPRINTABLE.test(text) || /^[ \t]+$/m.test(text);

const escaped = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
