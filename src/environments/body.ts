/** One entity out of a request that may say it twice: as fields, and as a document. */
import type { z } from "zod";
import type { Place } from "../core/reference.ts";
import { documentOf, formatOf, textOf, type EnvelopeCall } from "../platform/http/bodies.ts";
import type { Body } from "../platform/http/routes.ts";
import { writeYaml } from "../platform/document/write.ts";
import { parseDocument, type Doc } from "../platform/document/document.ts";
import { validateEnvelope } from "../platform/document/lenient.ts";
import { faultOf, validate } from "../platform/document/validate.ts";
import { problem } from "./problems.ts";

type Said = { readonly [field: string]: unknown };

export type Language<D extends Said> = {
  readonly root: "environment" | "service";
  /** What stands under the root of a document. */
  readonly document: z.ZodType<D>;
  /** The fields of a request that has no document. */
  readonly fields: z.ZodType<D>;
  /** The fields of a request beside the document in its `yaml`: any of them may be missing. */
  readonly beside: z.ZodType<Said>;
};

/** Everything that was said, once, and the document to keep. */
export type Read<D> = { readonly input: D; readonly yaml: string };

/**
 * The body is the document itself (`environment: …`), or fields, or fields with the document as text in `yaml`.
 * What is said twice must agree, with the scope of the query too: `environment.disagreement` names the field.
 * Throws the problems of documents; faults of the text in `yaml` count their lines in that text.
 */
export function readBody<D extends Said>(language: Language<D>, call: EnvelopeCall, query: Place): Read<D> {
  const { body, onIgnored } = call;
  const doc = documentOf(body);
  const { root } = language;
  const top = isMap(doc.value) ? doc.value : {};
  if (Object.hasOwn(top, root)) {
    const input = validate(language.document, doc, { root });
    return { input: joined(doc, input, query, [root]), yaml: keptText(body) };
  }
  if (typeof top["yaml"] !== "string") {
    const input = joined(doc, validateEnvelope(language.fields, doc, { onIgnored }), query, []);
    const { color: _, ...document } = told(input);
    return { input, yaml: writeYaml({ [root]: document }) };
  }
  const beside = validateEnvelope(language.beside, doc, { onIgnored });
  const input = validate(language.document, parseDocument(top["yaml"]), { root });
  const { yaml: _, ...fields } = beside;
  agree(doc, fields, input, []);
  return { input: joined(doc, { ...told(input), ...told(fields) } as D, query, []), yaml: top["yaml"] };
}

/** JSON is laid out anew, as only then every YAML parser reads it too. */
function keptText(body: Body): string {
  const text = textOf(body) ?? "";
  return formatOf(body) === "json" ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;
}

/** With the scope of the query where the document has none. */
function joined<D extends Said>(doc: Doc, input: D, query: Place, at: readonly string[]): D {
  agree(doc, input, query, at);
  return { ...told(query), ...told(input) } as D;
}

function agree(doc: Doc, here: Said, elsewhere: Said, at: readonly string[]): void {
  for (const [field, value] of Object.entries(told(elsewhere))) {
    const said = here[field] ?? undefined;
    if (said === undefined || isSame(said, value)) continue;
    const fault = faultOf(doc, [...at, field], `${show(said)} here, ${show(value)} elsewhere in the request`);
    throw problem("environment.disagreement", [`${fault.path} is ${fault.message}`], { faults: [fault] });
  }
}

/** Without what was left empty. */
const told = (fields: Said): Said =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const isMap = (value: unknown): value is Said => typeof value === "object" && value !== null && !Array.isArray(value);
const show = (value: unknown): string => JSON.stringify(value).slice(0, 80).toWellFormed();

function isSame(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): unknown =>
    isMap(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
