import type { RecordReferences } from "../access/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { type Reference, referencesIn } from "./document/references.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { secretsOf } from "./document/secrets.ts";
import type { InProject } from "./pipeline.ts";

type Kind = Reference["kind"];

/** What a document names as it stands; what is only known at the run is not among it. */
const namedIn = (document: PipelineDocument, wanted: Kind): readonly string[] =>
  referencesIn(document).flatMap(({ kind, value }) => (kind === wanted && !value.includes("<+") ? [value] : []));

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

type NoteDeps = {
  readonly noteConnectors: RecordReferences;
  readonly noteSecrets: RecordReferences;
  readonly noteTargets: { readonly [kind in "environment" | "service"]: RecordReferences };
};

type Uses = { readonly user: ReturnType<typeof userOf>; readonly document: PipelineDocument | undefined };

/** Records what the pipeline names from now on; nothing if it has no document any more. */
export async function noteUses(deps: NoteDeps, tx: Tx, accountId: Uuid, { user, document }: Uses): Promise<void> {
  const named = (kind: Kind): readonly string[] => (document ? namedIn(document, kind) : []);
  await deps.noteConnectors(tx, accountId, user, named("connector"));
  await deps.noteSecrets(tx, accountId, user, document ? secretsNamedIn(document) : []);
  await deps.noteTargets.environment(tx, accountId, user, named("environment"));
  await deps.noteTargets.service(tx, accountId, user, named("service"));
}
