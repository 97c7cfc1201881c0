import type { Uuid } from "../core/ids.ts";
import { referencesIn } from "./document/references.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { secretsOf } from "./document/secrets.ts";
import type { InProject } from "./pipeline.ts";

/** The connectors that a document names as it stands; those that are only known at the run are not among them. */
export const connectorsIn = (document: PipelineDocument): readonly string[] =>
  referencesIn(document).flatMap(({ kind, value }) => (kind === "connector" && !value.includes("<+") ? [value] : []));

/** The secrets that it names as it stands; what runs and stages give to pipelines is not among them. */
export const secretsNamedIn = (document: PipelineDocument): readonly string[] => [
  ...new Set(secretsOf(document).flatMap(({ reference, home }) => (home ? [] : [reference]))),
];

/** A pipeline as the one who uses a connector. */
export const userOf = (id: Uuid, identifier: string, scope: InProject) => ({
  type: "PIPELINE" as const,
  id,
  identifier,
  orgIdentifier: scope.orgIdentifier,
  projectIdentifier: scope.projectIdentifier,
});
