/** The documents of input sets and overlays. */
import { z } from "zod";
import { parseDocument, type Doc, type Format } from "../../platform/document/document.ts";
import { description, displayName, entityIdentifier, tags } from "../../platform/document/fields.ts";
import { faultOf, documentProblem, validate } from "../../platform/document/validate.ts";
import { sameScope } from "../document/read.ts";
import type { Reference } from "../document/references.ts";
import { givenInputs, givenSecrets, referencesGiven } from "../inputs.ts";
import type { PipelineDocument } from "../document/index.ts";
import type { InProject } from "../pipeline.ts";
import type { WrittenSecret } from "../secrets.ts";
import type { InputSetWithYaml, Kind } from "./input-set.ts";

/** What one overlay, or one request, may name. */
export const MAX_REFERENCES = 20;

export const references = z.array(entityIdentifier).max(MAX_REFERENCES);

const named = {
  identifier: entityIdentifier.describe("Unique in the pipeline"),
  name: displayName.describe("Shown in lists"),
  description: description.describe("Any text"),
  tags: tags.describe("Labels: name and value"),
  orgIdentifier: z.string().nullish().describe("The organization of the request"),
  projectIdentifier: z.string().nullish().describe("The project of the request"),
};

export const inputSetBody = z.strictObject({
  ...named,
  pipeline: z
    .looseObject({ identifier: z.string().nullish().describe("The pipeline of the request") })
    .describe("Values of runtime inputs, in the places where the pipeline has them"),
});

export const overlayBody = z.strictObject({
  ...named,
  pipelineIdentifier: z.string().nullish().describe("The pipeline of the request"),
  inputSetReferences: references.min(1).describe("Input sets of the pipeline; later ones win"),
});

export const ROOTS = { INPUT_SET: "inputSet", OVERLAY_INPUT_SET: "overlayInputSet" } as const;

export type SetDocument = Pick<
  InputSetWithYaml,
  "kind" | "identifier" | "name" | "description" | "tags" | "references"
> & { readonly doc: Doc };

type Within = InProject & { readonly pipelineIdentifier: string };

/**
 * Reads what is to be saved, the values for the pipeline aside. Throws the problems of documents, each fault with line
 * and column, and `pipeline.other_scope` when it names another scope or pipeline than the request.
 */
export function readSet(kind: Kind, text: string, format: Format, within: Within): SetDocument {
  const doc = parseDocument(text, { format });
  const { orgIdentifier, projectIdentifier, pipelineIdentifier } = within;
  const scope = { orgIdentifier, projectIdentifier };
  if (kind === "INPUT_SET") {
    const said = validate(inputSetBody, doc, { root: ROOTS[kind] });
    sameScope(said, doc, ROOTS[kind], scope);
    const { identifier, name } = said;
    return { kind, identifier, name, description: said.description, tags: said.tags, references: [], doc };
  }
  const said = validate(overlayBody, doc, { root: ROOTS[kind] });
  sameScope(said, doc, ROOTS[kind], { ...scope, pipelineIdentifier });
  const { identifier, name, inputSetReferences } = said;
  requireOnce(doc, inputSetReferences);
  return {
    kind,
    identifier,
    name,
    description: said.description,
    tags: said.tags,
    references: inputSetReferences,
    doc,
  };
}

function requireOnce(doc: Doc, identifiers: readonly string[]): void {
  const faults = identifiers.flatMap((identifier, index) =>
    identifiers.indexOf(identifier) === index
      ? []
      : [faultOf(doc, referencePath(index), `The input set '${identifier}' is given twice`)],
  );
  if (faults.length > 0) throw documentProblem(faults);
}

export const referencePath = (index: number): readonly (string | number)[] => [
  ROOTS.OVERLAY_INPUT_SET,
  "inputSetReferences",
  index,
];

/**
 * The values that an input set gives, by their path in the pipeline. Throws `pipeline.bad_inputs` and
 * `document.invalid` for what the pipeline has no place for, and for what does not fit its place: faults name the path
 * as a run's inputs would have it, with line and column in the document of the set.
 */
export const valuesOf = (pipeline: PipelineDocument, doc: Doc): ReadonlyMap<string, unknown> =>
  givenInputs(pipeline, below(doc, ROOTS.INPUT_SET));

/** The secrets that an input set asks for. */
export const secretsOfSet = (pipeline: PipelineDocument, doc: Doc): readonly WrittenSecret[] =>
  givenSecrets(pipeline, below(doc, ROOTS.INPUT_SET));

/** The services, environments and connectors that an input set names. */
export const givenReferences = (pipeline: PipelineDocument, doc: Doc): readonly Reference[] =>
  referencesGiven(pipeline, below(doc, ROOTS.INPUT_SET));

/** The values of a set that was saved. */
export const savedValues = (
  pipeline: PipelineDocument,
  { yaml }: Pick<InputSetWithYaml, "yaml">,
): ReadonlyMap<string, unknown> => valuesOf(pipeline, parseDocument(yaml));

/** The part of the document that a run could have been given as it is. */
function below(doc: Doc, root: string): Doc {
  const { pipeline } = (doc.value as Readonly<Record<string, { readonly pipeline: unknown }>>)[root] ?? {};
  return {
    ...doc,
    value: { pipeline },
    position: (path) => doc.position([root, ...path]),
    keyPosition: (path) => doc.keyPosition([root, ...path]),
    positionIn: (path, offset) => doc.positionIn([root, ...path], offset),
    source: (path) => doc.source([root, ...path]),
  };
}
