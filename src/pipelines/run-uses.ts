/** What a run names outside of its pipeline. */
import type { Connectors } from "./clusters.ts";
import type { PipelineDocument } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import type { FoundReference, Named } from "./find-references.ts";
import type { WrittenSecret } from "./secrets.ts";

export const connectorsOf = (references: readonly FoundReference[]): Connectors =>
  new Map(references.flatMap(({ reference, connector }) => (connector ? [[reference, connector] as const] : [])));

export function usesOf(document: PipelineDocument, secrets: readonly WrittenSecret[]): readonly Named[] {
  const things = referencesIn(document).map(({ kind, value, stage }) => ({
    kind,
    reference: value,
    stage: stage.document.identifier,
  }));
  // What stages give to other pipelines is used by those.
  const asked = [...new Set(secrets.flatMap(({ reference, home }) => (home ? [] : [reference])))];
  return [...things, ...asked.map((reference) => ({ kind: "secret" as const, reference, stage: null }))];
}
