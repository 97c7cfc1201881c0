/** What a document names that a run by the actor would not find, or not be allowed to use. */
import type { Actor } from "../../core/actor.ts";
import type { Fault } from "../../core/problem.ts";
import { referred, scopeOf } from "../../core/reference.ts";
import { clip, pathText } from "../../platform/document/position/path.ts";
import { chainsIn, faultAt } from "../chained/place.ts";
import type { PipelineDeps } from "../create.ts";
import { type Reference, referencesIn } from "../document/references.ts";
import type { PipelineDocument } from "../document/schema.ts";
import type { InProject } from "../pipeline.ts";
import type { WrittenAt } from "../places.ts";
import { findPipeline } from "../store/pipelines.ts";

export type MissingDeps = Pick<PipelineDeps, "db" | "permits" | "exist">;

type Document = { readonly home: InProject; readonly document: PipelineDocument; readonly at: WrittenAt };

/** Pipelines of one document that are looked up, each once. */
const MAX_CHAINED = 100;

/** References that hold expressions are left out. */
export async function missingReferences(deps: MissingDeps, actor: Actor, of: Document): Promise<readonly Fault[]> {
  const references = referencesIn(of.document).filter(({ value }) => !value.includes("<+"));
  const faults: Fault[] = [];
  for (const [kind, some] of Map.groupBy(references, (one) => one.kind)) {
    const messages = await messagesOf(deps, actor, of.home, kind, new Set(some.map(({ value }) => value)));
    for (const { path, value } of some) {
      const message = messages.get(value);
      const { inInputs: _, ...position } = of.at(path);
      if (message !== undefined) faults.push({ path: pathText(path), message, ...position });
    }
  }
  return [...faults, ...(await missingPipelines(deps, actor, of))];
}

/** By the value of the reference; without those that may be used. */
async function messagesOf(
  { permits, exist }: MissingDeps,
  actor: Actor,
  home: InProject,
  kind: Reference["kind"],
  values: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const messages = new Map<string, string>();
  const permitted: string[] = [];
  for (const value of values) {
    const key = referred(value, home);
    const scope = key && scopeOf(actor.accountId, key);
    if (!key || !scope || !permits(actor, `core_${kind}_view`, scope, key.identifier))
      messages.set(value, `No ${kind} '${clip(value)}' exists`);
    else if (permits(actor, `core_${kind}_access`, scope, key.identifier)) permitted.push(value);
    else messages.set(value, `The ${kind} '${clip(value)}' may not be used: core_${kind}_access is missing`);
  }
  const found = await exist[kind](actor, home, permitted);
  for (const [nth, value] of permitted.entries())
    if (!found[nth]) messages.set(value, `No ${kind} '${clip(value)}' exists`);
  return messages;
}

async function missingPipelines(
  { db, permits }: MissingDeps,
  actor: Actor,
  { document, at }: Document,
): Promise<readonly Fault[]> {
  const { accountId } = actor;
  const byPipeline = Map.groupBy(chainsIn(document), ({ spec }) => [spec.org, spec.project, spec.pipeline].join("/"));
  const faults: Fault[] = [];
  for (const chains of [...byPipeline.values()].slice(0, MAX_CHAINED)) {
    const [first] = chains;
    if (!first) continue;
    const { org: orgIdentifier, project: projectIdentifier, pipeline } = first.spec;
    const scope = { orgIdentifier, projectIdentifier };
    const mayView = permits(actor, "core_pipeline_view", { accountId, ...scope }, pipeline);
    if (mayView && (await findPipeline(db, accountId, scope, pipeline))) continue;
    const message = `No pipeline '${clip(pipeline)}' exists in project '${clip(projectIdentifier)}'`;
    faults.push(...chains.map((chain) => faultAt(chain, at, message)));
  }
  return faults;
}
