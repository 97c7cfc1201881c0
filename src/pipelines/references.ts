/** What a run names outside of its pipeline: expressions in it resolved, and all of it there. */
import type { Actor } from "../core/actor.ts";
import type { Fault } from "../core/problem.ts";
import type { Refusal } from "../core/refused.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import { authorize, refusalOf, type Exist, type Permits } from "../access/index.ts";
import type { FindUsedConnectors, UsedConnector } from "../connectors/index.ts";
import { evaluateTemplate, ExpressionError, newBudget, scopeFor } from "../engine/index.ts";
import { clip, pathText, type Path } from "../platform/document/position/path.ts";
import type { Facts } from "./document/context.ts";
import { problem } from "./document/problems.ts";
import { referencesIn, type Reference } from "./document/references.ts";
import type { PipelineDocument } from "./document/schema.ts";
import type { FoundReference } from "./find-references.ts";
import type { InProject } from "./pipeline.ts";
import type { WrittenAt } from "./places.ts";
import { outlineOf } from "./plan.ts";

export type ExistOf = { readonly [kind in Reference["kind"]]: Exist };

/** Facts that hold before a run is made; its id and its number do not. */
export type EarlyFacts = Omit<Facts, "execution">;

const isOpen = ({ value }: Pick<Reference, "value">): boolean => value.includes("<+");

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
  all: readonly Pick<Reference, "kind" | "value">[],
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
  readonly references: readonly Pick<FoundReference, "kind" | "reference" | "connector">[];
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
  const types = new Map(references.flatMap((one) => (one.connector ? [[one.reference, one.connector] as const] : [])));
  const faults = referencesIn(document).flatMap((one) =>
    isThere(one) ? typeFaults(one, types, at) : [faultAt(one, `No ${one.kind} '${clip(one.value)}' exists`, at)],
  );
  if (faults.length > 0) throw badReferences(faults, refusal);
}

/** What a KubernetesDirect infrastructure connects with. There is no other type of infrastructure. */
const CLUSTER = "K8sCluster";

type Types = ReadonlyMap<string, Pick<UsedConnector, "type">>;

function typeFaults(reference: Reference, types: Types, at: WrittenAt): readonly Fault[] {
  const type = reference.kind === "connector" ? types.get(reference.value)?.type : undefined;
  if (type === undefined || type === CLUSTER) return [];
  const name = clip(reference.value);
  return [faultAt(reference, `Connector '${name}' has the type ${type}; KubernetesDirect needs ${CLUSTER}`, at)];
}

type Saved = { readonly home: InProject; readonly document: PipelineDocument; readonly at: WrittenAt };

/**
 * Throws `pipeline.bad_references` (400) naming the place of each connector of a type that its infrastructure cannot
 * use. Leaves out connectors that do not exist, that the actor may not see, or that only a run knows.
 */
export async function requireConnectorTypes(
  { permits, findUsedConnectors }: { readonly permits: Permits; readonly findUsedConnectors: FindUsedConnectors },
  actor: Actor,
  { home: { orgIdentifier, projectIdentifier }, document, at }: Saved,
): Promise<void> {
  const home = { orgIdentifier, projectIdentifier };
  const visible = referencesIn(document).filter((one) => {
    const key = one.kind === "connector" && !isOpen(one) ? referred(one.value, home) : undefined;
    return key && permits(actor, "core_connector_view", scopeOf(actor.accountId, key), key.identifier);
  });
  const references = [...new Set(visible.map(({ value }) => value))];
  const types = await findUsedConnectors(actor.accountId, home, references);
  const faults = visible.flatMap((one) => typeFaults(one, types, at));
  if (faults.length > 0) throw badReferences(faults);
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
