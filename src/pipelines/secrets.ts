/** The secrets that a pipeline asks for have to be there, and to be the actor's to use, before it is saved or run. */
import type { Actor } from "../core/actor.ts";
import type { Fault } from "../core/problem.ts";
import type { Place } from "../core/reference.ts";
import { pathText, type Path } from "../platform/document/position/path.ts";
import type { CheckSecretUses } from "../secrets/index.ts";
import { problem } from "./document/problems.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { secretsOf, type AskedSecret } from "./document/secrets.ts";
import type { InProject } from "./pipeline.ts";

/** A secret that is asked for, and where that was written. */
export type WrittenSecret = Pick<AskedSecret, "reference" | "as" | "home"> & {
  readonly path: string;
  readonly position: Pick<Fault, "line" | "column"> | undefined;
  /** In the inputs of the run, not in the pipeline. */
  readonly inInputs: boolean;
};

type PositionIn = (path: Path, offset: number) => Pick<Fault, "line" | "column"> | undefined;

/** Those of a pipeline as it was written. */
export const writtenSecrets = (pipeline: PipelineDocument, positionIn: PositionIn): readonly WrittenSecret[] =>
  secretsOf(pipeline).map(({ path, offset, ...use }) => ({
    ...use,
    path: pathText(path),
    position: positionIn(path, offset),
    inInputs: false,
  }));

/** Those of a pipeline with inputs: which of them they have brought, and where each stands. */
export const filledSecrets = (
  pipeline: PipelineDocument,
  inputs: PositionIn,
  saved: PositionIn,
): readonly WrittenSecret[] =>
  secretsOf(pipeline).map(({ path, offset, ...use }) => {
    const given = inputs(path, offset);
    return { ...use, path: pathText(path), position: given ?? saved(path, offset), inInputs: given !== undefined };
  });

/**
 * Whoever saves has to hold `core_secret_access` as well as whoever starts: a trigger may use what its pipeline uses.
 * Throws `pipeline.bad_references` (400), and `pipeline.secret_refused` (403) where that alone is the matter.
 */
export async function requireSecrets(
  checkUses: CheckSecretUses,
  actor: Actor,
  { orgIdentifier, projectIdentifier }: InProject,
  asked: readonly WrittenSecret[],
): Promise<void> {
  if (asked.length === 0) return;
  const own: Place = { orgIdentifier, projectIdentifier };
  const answers = new Map<WrittenSecret, Awaited<ReturnType<CheckSecretUses>>[number]>();
  for (const [key, uses] of Map.groupBy(asked, ({ home }) => JSON.stringify(home ?? own))) {
    const found = await checkUses(actor, JSON.parse(key) as Place, uses);
    for (const [nth, use] of uses.entries()) answers.set(use, found[nth]);
  }
  const faults = asked.flatMap((use) => {
    const { path, position, inInputs } = use;
    const answer = answers.get(use);
    const where = inInputs ? " (given by the inputs of the run)" : "";
    return answer ? [{ ...answer, fault: { path, message: answer.message + where, ...position } }] : [];
  });
  if (faults.length === 0) return;
  const missing = faults.filter(({ kind }) => kind === "missing");
  const named = missing.length > 0 ? missing : faults;
  const told = named.map(({ fault }) => fault);
  const text = told.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw problem(missing.length > 0 ? "pipeline.bad_references" : "pipeline.secret_refused", [text], {
    faults: told,
    refusal: named.find(({ refusal }) => refusal)?.refusal,
  });
}
