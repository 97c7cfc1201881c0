/** Changes one tag of a resource, in its map of tags and in the text of its document. */
import { isMap, parseDocument } from "yaml";
import { z } from "zod";
import { tagMap } from "./fields.ts";
import { validateValue } from "./validate.ts";

/** Sets the tag `name`, or removes it if `value` is null. */
export type TagChange = { readonly name: string; readonly value: string | null };

export type Tags = Readonly<Record<string, string>>;

/** As a map of tags from outside: a name that JavaScript gives a meaning of its own is never kept in one. */
const tagName = z.strictObject({
  name: z.string().refine((name) => name !== "__proto__", { error: "cannot be __proto__" }),
});

/** The tags after a change. Throws `document.invalid`: an empty or long name, a long value, too many tags. */
export function changedTags(tags: Tags, { name, value }: TagChange): Tags {
  validateValue(tagName, { name });
  const others = Object.entries(tags).filter(([key]) => key !== name);
  return validateValue(tagMap, Object.fromEntries(value === null ? others : [...others, [name, value]]));
}

/**
 * The text of a document with these tags below its top-level key `root`. Comments and the order of the other keys stay.
 */
export function withTags(text: string, root: string, tags: Tags): string {
  const doc = parseDocument(text);
  const before = doc.getIn([root, "tags"]);
  if (!isMap(before)) {
    doc.setIn([root, "tags"], doc.createNode(tags));
    return doc.toString({ lineWidth: 0 });
  }
  for (const { key } of [...before.items]) {
    const name = typeof key === "object" && key !== null && "value" in key ? String(key.value) : String(key);
    if (!Object.hasOwn(tags, name)) before.delete(key);
  }
  for (const [name, value] of Object.entries(tags)) if (before.get(name) !== value) before.set(name, value);
  return doc.toString({ lineWidth: 0 });
}
