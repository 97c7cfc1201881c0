import { Document, Scalar, visit } from "yaml";
import { UNPRINTABLE } from "./text.ts";

const UNPRINTABLES = new RegExp(UNPRINTABLE, "g");

/**
 * A value of JSON's types, with numbers of the safe range, as YAML that `parseDocument` reads back as the same value.
 *
 * The library writes DEL, C1 and the non-characters of the basic plane as they are, which no document may have, and
 * loses spaces of lines that consist of spaces alone. A plain key `<<` would be a merge key. Such texts are quoted
 * here, and the characters escaped. Shared objects are written out each time.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 }).replace(UNPRINTABLES, escaped);
}

const needsQuotes = (text: string): boolean => text === "<<" || UNPRINTABLE.test(text) || /^[ \t]+$/m.test(text);

const escaped = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
