/** Reads an entity from a request that may contain it twice: as fields, and as a document. */
import type { z } from "zod";
import type { Place } from "../../core/reference.ts";
import { documentOf, formatOf, textOf, type EnvelopeCall } from "../../platform/http/request/bodies.ts";
import type { Body } from "../../platform/http/routes.ts";
import { writeYaml } from "../../platform/document/write.ts";
import { parseDocument, type Doc } from "../../platform/document/document.ts";
import { validateEnvelope } from "../../platform/document/json/lenient.ts";
import { faultOf, validate } from "../../platform/document/validate.ts";
import { problem } from "../problems.ts";

type RequestFields = { readonly [field: string]: unknown };

export type Language<D extends RequestFields> = {
  readonly root: "environment" | "service";
  /** The document below its root. */
  readonly document: z.ZodType<D>;
  /** The fields of a request without a document. */
  readonly fields: z.ZodType<D>;
  /** The fields of a request with a document in `yaml`; all are optional. */
  readonly beside: z.ZodType<RequestFields>;
};

/** The combined input, and the text of the document to store. */
export type ReadEntity<D> = { readonly input: D; readonly yaml: string };

/**
 * Reads a body that is a document (`environment: …`), fields, or fields with a document as text in `yaml`. Repeated
 * values must be equal, also those in the query; `environment.disagreement` names the field otherwise. Throws the
 * problems of documents; faults in `yaml` have the line numbers of that text.
 */
export function readBody<D extends RequestFields>(
  language: Language<D>,
  call: EnvelopeCall,
  query: Place,
): ReadEntity<D> {
  const { body, onIgnored } = call;
  const doc = documentOf(body);
  const { root } = language;
  const top = isMap(doc.value) ? doc.value : {};
  if (Object.hasOwn(top, root)) {
    const input = validate(language.document, doc, { root });
    return { input: addQueryScope(doc, input, query, [root]), yaml: documentText(body) };
  }
  if (typeof top["yaml"] !== "string") {
    const input = addQueryScope(doc, validateEnvelope(language.fields, doc, { onIgnored }), query, []);
    const { color: _, ...document } = withoutEmpty(input);
    return { input, yaml: writeYaml({ [root]: document }) };
  }
  const beside = validateEnvelope(language.beside, doc, { onIgnored });
  const input = validate(language.document, parseDocument(top["yaml"]), { root });
  const { yaml: _, ...fields } = beside;
  requireAgreement(doc, fields, input, []);
  return {
    input: addQueryScope(doc, { ...withoutEmpty(input), ...withoutEmpty(fields) } as D, query, []),
    yaml: top["yaml"],
  };
}

/** Reformats JSON, so that every YAML parser can read it. */
function documentText(body: Body): string {
  const text = textOf(body) ?? "";
  return formatOf(body) === "json" ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;
}

/** Adds the scope of the query if the document has none. */
function addQueryScope<D extends RequestFields>(doc: Doc, input: D, query: Place, at: readonly string[]): D {
  requireAgreement(doc, input, query, at);
  return { ...withoutEmpty(query), ...withoutEmpty(input) } as D;
}

function requireAgreement(doc: Doc, here: RequestFields, elsewhere: RequestFields, at: readonly string[]): void {
  for (const [field, value] of Object.entries(withoutEmpty(elsewhere))) {
    const given = here[field] ?? undefined;
    if (given === undefined || isSame(given, value)) continue;
    const fault = faultOf(doc, [...at, field], `${show(given)} here, ${show(value)} elsewhere in the request`);
    throw problem("environment.disagreement", [`${fault.path} is ${fault.message}`], { faults: [fault] });
  }
}

/** Removes empty fields. */
const withoutEmpty = (fields: RequestFields): RequestFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const isMap = (value: unknown): value is RequestFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const show = (value: unknown): string => JSON.stringify(value).slice(0, 80).toWellFormed();

function isSame(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): unknown =>
    isMap(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
