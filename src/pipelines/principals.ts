/**
 * An execution acts for its principals: each of them has to be allowed now to use what the execution uses
 * (docs/decisions/0020-principals.md). The first is its starter, or the owner of the trigger that started it.
 */
import type { Permission, Permits } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Author, AuthorState, FindAuthorStates } from "../identity/index.ts";
import type { Authored, Principal } from "./principal.ts";
import { referred, scopeOf } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { PlanReference } from "../engine/index.ts";
import type { InProject } from "./pipeline.ts";
import { problem } from "./problems.ts";

export type RequirePrincipalsDeps = { readonly permits: Permits; readonly findAuthorStates: FindAuthorStates };

export type Run = {
  readonly accountId: Uuid;
  readonly scope: InProject;
  readonly pipelineIdentifier: string;
  readonly principals: readonly Principal[];
  readonly uses: Uses;
  readonly chained?: readonly ChainedRun[];
  /** Whether refusals leave out e-mail addresses, for readers who need not see them. */
  readonly hidesAddresses?: boolean;
};

type Uses = readonly Pick<PlanReference, "kind" | "reference">[];

/** A pipeline that a stage of the run runs. Its references lead from its own project. */
export type ChainedRun = {
  readonly scope: InProject;
  readonly pipelineIdentifier: string;
  /** The number of pipelines around it, whose authors have to be allowed to execute it. */
  readonly depth: number;
  readonly uses: Uses;
};

/**
 * Throws `pipeline.principal_refused`, `pipeline.principal_inactive` or `pipeline.author_unknown` (403) for the first
 * principal that may not do its part. A run without principals is refused. With `tx`, it reads in that transaction.
 */
export type RequirePrincipals = (run: Run, tx?: Pick<Tx, "query">) => Promise<void>;

export const makeRequirePrincipals =
  ({ permits, findAuthorStates }: RequirePrincipalsDeps): RequirePrincipals =>
  async (run, tx) => {
    const { accountId, scope, pipelineIdentifier } = run;
    if (run.principals.length === 0) throw problem("pipeline.author_unknown", ["The execution"]);
    const known = run.principals.map(knownAuthor);
    const authorStates = await findAuthorStates(accountId, known, tx);
    const asked = new Set<string>();
    for (const [nth, { authored }] of run.principals.entries()) {
      const standing = run.hidesAddresses ? withoutAddress(authorStates[nth]) : authorStates[nth];
      if (!standing?.actor) throw inactive(authored, standing);
      if (startsRun(nth, authored)) {
        const place = { accountId, orgIdentifier: scope.orgIdentifier, projectIdentifier: scope.projectIdentifier };
        if (!permits(standing.actor, "core_pipeline_execute", place, pipelineIdentifier))
          throw refused(authored, standing, `execute pipeline '${pipelineIdentifier}'`);
      }
      // One author often has saved several of the documents.
      const depth = depthOf(authored);
      const key = `${known[nth]?.kind} ${known[nth]?.id} ${depth}`;
      if (asked.has(key)) continue;
      asked.add(key);
      const fault = missingIn(permits, standing.actor, run, depth);
      if (fault !== undefined) throw refused(authored, standing, fault);
    }
  };

const depthOf = (authored: Authored): number => (authored.type === "pipeline" ? (authored.chained ?? 0) : 0);

/** What the actor may not do of that which the run does, as the end of a sentence. */
function missingIn(permits: Permits, actor: Actor, run: Run, depth: number): string | undefined {
  for (const { scope, uses, ...one } of [{ scope: run.scope, uses: run.uses }, ...(run.chained ?? [])]) {
    const place = {
      accountId: actor.accountId,
      orgIdentifier: scope.orgIdentifier,
      projectIdentifier: scope.projectIdentifier,
    };
    if ("depth" in one && depth < one.depth && !permits(actor, "core_pipeline_execute", place, one.pipelineIdentifier))
      return `execute pipeline '${one.pipelineIdentifier}' of project '${scope.projectIdentifier}'`;
    const missing = uses.find((use) => !mayUse(permits, actor, scope, use));
    if (missing) return `use ${missing.kind} '${missing.reference}'`;
  }
  return undefined;
}

/** Of an execution from before the upgrade the first principal may be an author who never started it. */
const startsRun = (nth: number, { type }: Authored): boolean =>
  nth === 0 && (type === "execution" || type === "trigger");

function knownAuthor({ author, authored }: Principal): Author {
  if (author) return author;
  throw problem("pipeline.author_unknown", [titleOf(authored)]);
}

function mayUse(permits: Permits, actor: Actor, scope: InProject, { kind, reference }: Uses[number]): boolean {
  const { orgIdentifier, projectIdentifier } = scope;
  const key = referred(reference, { orgIdentifier, projectIdentifier });
  // What is no reference names nothing: looking it up says so.
  if (!key) return true;
  const permissions: readonly Permission[] =
    kind === "secret" ? ["core_secret_access"] : [`core_${kind}_view`, `core_${kind}_access`];
  return permissions.every((one) => permits(actor, one, scopeOf(actor.accountId, key), key.identifier));
}

const refused = (authored: Authored, standing: AuthorState, what: string): Error =>
  problem("pipeline.principal_refused", [deedOf(authored), named(standing), what]);

const inactive = (authored: Authored, standing: AuthorState | undefined): Error =>
  problem("pipeline.principal_inactive", [
    deedOf(authored),
    standing ? named(standing) : "a deleted account",
    standing?.state === "deactivated" ? "deactivated" : "deleted",
  ]);

/** A name that is an address is cut at its @, as for interrupts. */
function withoutAddress(state: AuthorState | undefined): AuthorState | undefined {
  if (!state) return undefined;
  return { ...state, name: state.name === state.email ? (state.name.split("@")[0] ?? "") : state.name, email: null };
}

const named = ({ name, email }: AuthorState): string => (email === null ? name : `${name} (${email})`);

function titleOf(authored: Authored): string {
  switch (authored.type) {
    case "execution":
      return "The execution";
    case "trigger":
      return `Version ${authored.version} of trigger '${authored.identifier}'`;
    case "pipeline":
      return `Version ${authored.version} of pipeline '${authored.identifier}'`;
    case "input_set":
      return `Version ${authored.version} of input set '${authored.identifier}'`;
  }
}

function deedOf(authored: Authored): string {
  const deed =
    authored.type === "execution" ? "was started by" : authored.type === "trigger" ? "is owned by" : "was saved by";
  return `${titleOf(authored)} ${deed}`;
}
