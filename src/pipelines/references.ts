/** What a run names outside of its pipeline: expressions in it resolved, and all of it there. */
import type { Actor } from "../core/actor.ts";
import type { Fault } from "../core/problem.ts";
import type { Refusal } from "../core/refused.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import { authorize, refusalOf, type Exist } from "../access/index.ts";
import { evaluateTemplate, ExpressionError, newBudget, scopeFor, type PlanReference } from "../engine/index.ts";
import { clip, pathText, type Path } from "../platform/document/position/path.ts";
import type { Facts } from "./document/context.ts";
import { problem } from "./document/problems.ts";
import { referencesIn, type Reference } from "./document/references.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { outlineOf } from "./plan.ts";

export type ExistOf = { readonly [kind in Reference["kind"]]: Exist };

/** Facts that hold before a run is made; its id and its number do not. */
export type EarlyFacts = Omit<Facts, "execution">;

/** Where the value at a path was written: line and column, in the saved document or in the inputs of the run. */
export type WrittenAt = (path: Path) => Pick<Fault, "line" | "column"> & { readonly inInputs: boolean };

const isOpen = ({ value }: Reference): boolean => value.includes("<+");

/**
 * The pipeline with the expressions in its references replaced by their values. They may read what is known before
 * the run: variables, names and identifiers, tags, the trigger. What else they read is refused:
 * `pipeline.bad_references` (400) names each path.
 */
export function resolveReferences(pipeline: PipelineDocument, facts: EarlyFacts, at: WrittenAt): PipelineDocument {
  const open = referencesIn(pipeline).filter(isOpen);
  if (open.length === 0) return pipeline;
  let last = 0;
  const { plan, idOf } = outlineOf(pipeline, { ...facts, execution: null }, () => `n${(last += 1)}`);
  const faults: Fault[] = [];
  const budget = newBudget();
  const resolved = structuredClone(pipeline);
  for (const reference of open) {
    try {
      const scope = scopeFor(plan, () => undefined, idOf(reference.stage));
      put(resolved, reference.path.slice(1), evaluateTemplate(reference.value, scope, budget));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      faults.push(faultAt(reference, `It cannot be resolved before the run: ${error.message}`, at));
    }
  }
  if (faults.length > 0) throw badReferences(faults);
  return resolved;
}

/** Throws `access.not_permitted` where one names what the actor may see and not use; what does not exist may come to. */
export async function permitReferences(
  exist: ExistOf,
  actor: Actor,
  { orgIdentifier, projectIdentifier }: Place,
  all: readonly Reference[],
): Promise<void> {
  const references = all.filter((one) => !isOpen(one));
  for (const [kind, some] of Map.groupBy(references, (one) => one.kind))
    await exist[kind](actor, { orgIdentifier, projectIdentifier }, [...new Set(some.map(({ value }) => value))]);
}

type Required = {
  readonly home: Place;
  readonly document: PipelineDocument;
  readonly at: WrittenAt;
  /** What there is of that which the document names. */
  readonly references: readonly Pick<PlanReference, "kind" | "reference">[];
};

/**
 * Throws `pipeline.bad_references` (400) naming the path of each reference to what does not exist, or what the actor may
 * not see, and `access.not_permitted` where one may be seen and not used.
 */
export function requireReferences(actor: Actor, { home, document, at, references }: Required): void {
  const there = new Set(references.map(({ kind, reference }) => `${kind} ${reference}`));
  let refusal: Refusal | undefined;
  const isThere = ({ kind, value }: Reference): boolean => {
    const key = referred(value, home);
    if (!key) return false;
    const scope = scopeOf(actor.accountId, key);
    const hidden = refusalOf(actor, `core_${kind}_view`, scope, key.identifier);
    refusal ??= hidden;
    if (hidden) return false;
    authorize(actor, `core_${kind}_access`, scope, key.identifier);
    return there.has(`${kind} ${value}`);
  };
  const faults = referencesIn(document)
    .filter((one) => !isThere(one))
    .map((one) => faultAt(one, `No ${one.kind} '${clip(one.value)}' exists`, at));
  if (faults.length > 0) throw badReferences(faults, refusal);
}

function faultAt({ path }: Reference, message: string, at: WrittenAt): Fault {
  const { inInputs, ...position } = at(path);
  return {
    path: pathText(path),
    message: inInputs ? `${message} (given by the inputs of the run)` : message,
    ...position,
  };
}

const badReferences = (faults: readonly Fault[], refusal?: Refusal): Error =>
  problem("pipeline.bad_references", [faults.map(({ path, message }) => `${path}: ${message}`).join("; ")], {
    faults,
    refusal,
  });

function put(pipeline: unknown, path: Path, value: string): void {
  let owner = pipeline as Record<string | number, unknown>;
  for (const part of path.slice(0, -1)) owner = owner[part] as typeof owner;
  owner[path.at(-1) ?? ""] = value;
}
