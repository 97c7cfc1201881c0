/**
 * Finds the secrets of a step for the delegate that holds its task, and checks their use. Opens nothing: `read` of each
 * secret found opens it, which the delegates slice calls (src/delegates/tasks/send-secrets.ts). The principals of the execution have to be allowed
 * now what the execution did at its start (docs/decisions/0020-principals.md). All of it is checked again after the secret
 * managers have opened the secrets, which may take seconds, and each delivery is then committed to the audit trail before a
 * byte of a secret is sent.
 */
import type { Audit, AuditedChange } from "../audit/index.ts";
import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { referred, within } from "../core/reference.ts";
import type { ResolveCluster } from "../connectors/index.ts";
import type { ResolvedSecrets, ResolveSecrets, SecretDelivery } from "../delegates/index.ts";
import type { Plan, PlanReference } from "../engine/index.ts";
import type { FindReferences, InProject, RequirePrincipals } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { ResolveForStep, ResolveLogin, StepPlace } from "../secrets/index.ts";
import { problem } from "./problems.ts";
import type { Plans } from "./advancing/plans.ts";
import { requireTriggers, type TriggersOf } from "./rerun.ts";
import { requireLivePipelines } from "./live-pipelines.ts";
import { chainedAround, type ChainedPipeline } from "./pipelines-around.ts";
import { findDeliveryFacts } from "./store/deliveries.ts";
import type { ResolveSecretOutput } from "./secret-outputs/seal.ts";

export type OpenSecretsDeps = TriggersOf & {
  readonly db: Db;
  readonly audit: Pick<Audit, "recordAll">;
  readonly requirePrincipals: RequirePrincipals;
  readonly findReferences: FindReferences;
  readonly resolveForStep: ResolveForStep;
  readonly resolveLogin: ResolveLogin;
  readonly resolveCluster: ResolveCluster;
  /** Where a step is by what its plan says: usage scopes are compared with that. */
  readonly runPlace: (accountId: Uuid, home: SecretDelivery["home"]) => Promise<StepPlace["place"]>;
  readonly plans: Pick<Plans, "of">;
  readonly resolveSecretOutput: ResolveSecretOutput;
};

/**
 * Finds the secrets of the delivery; `read` opens one. Call `confirm` when all are open, before the first byte is sent.
 * Throws a Problem that says which secret is refused and why; its status is 403 where permissions are the reason.
 */
export const openSecrets =
  (deps: OpenSecretsDeps): ResolveSecrets =>
  async (delivery) => {
    const found = await recordingRefusal(deps, delivery, () => find(deps, delivery));
    const confirm = async (): Promise<void> => {
      await recordingRefusal(deps, delivery, async () => requireSame(found, await find(deps, delivery)));
      await record(deps, delivery, undefined, found);
    };
    return { ...found, confirm };
  };

async function recordingRefusal<T>(
  deps: OpenSecretsDeps,
  delivery: SecretDelivery,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) await record(deps, delivery, error);
    throw error;
  }
}

type Found = Omit<ResolvedSecrets, "confirm">;

/** Throws `execution.secrets_changed` unless the references still name the secrets that were opened. */
function requireSame(opened: Found, now: Found): void {
  const [was, is] = [opened, now].map(({ secrets, login, cluster }) =>
    JSON.stringify([
      secrets.map(({ id }) => id),
      login && [login.id, login.port, login.userName, idsOf(login)],
      cluster && [cluster.id, cluster.access, idsOf(cluster)],
    ]),
  );
  if (was !== is) throw problem("execution.secrets_changed");
}

type Taken = { readonly role: string; readonly secret: { readonly id: Uuid } };

const idsOf = ({ takes }: { readonly takes: readonly Taken[] }) => takes.map(({ role, secret }) => [role, secret.id]);

async function find(deps: OpenSecretsDeps, delivery: SecretDelivery): Promise<Found> {
  const { accountId, runId, nodeId, home, uses, credential, cluster: clusterUse } = delivery;
  const facts = await findDeliveryFacts(deps.db, accountId, runId, nodeId);
  if (!facts) throw new Error(`a task belongs to the execution ${runId}, which does not exist`);
  const plan = await deps.plans.of(deps.db, { accountId, id: runId });
  if (facts.isPipelineDeleted) throw problem("execution.pipeline_deleted", [facts.pipelineIdentifier]);
  const definition = facts.definition ?? nodeId;
  const around = chainedAround(plan, definition);
  await requireLivePipelines(deps.db, accountId, around);
  await requireTriggers(deps, accountId, facts.principals);
  const stored = uses.filter(({ output }) => output === undefined);
  const named = [...stored.map(({ reference }) => reference), ...(credential === undefined ? [] : [credential])];
  const scope = { orgIdentifier: facts.orgIdentifier, projectIdentifier: facts.projectIdentifier };
  const own = referencesOf(plan, around);
  const things = await requireUnchanged(deps, accountId, {
    scope: around.at(-1)?.scope ?? scope,
    things: thingsOf(own, plan, definition),
  });
  const used = [...things, ...named.map((reference) => ({ kind: "secret" as const, reference }))];
  await deps.requirePrincipals({
    ...{ accountId, scope, pipelineIdentifier: facts.pipelineIdentifier, principals: facts.principals },
    uses: around.length === 0 ? used : [],
    // The execution stores the refusal.
    hidesAddresses: true,
    chained: around.map((one) => ({
      ...{ scope: one.scope, pipelineIdentifier: one.identifier, depth: one.depth },
      uses: one === around.at(-1) ? used : [],
    })),
  });
  const place = await deps.runPlace(accountId, home);
  const known = new Map(own.flatMap((one) => (one.kind === "secret" ? [[one.reference, one] as const] : [])));
  const idOf = (reference: string): Uuid | undefined => known.get(reference)?.id as Uuid | undefined;
  const at = { home, place };
  const secrets = await Promise.all(
    uses.map(({ output, ...use }) =>
      output === undefined
        ? deps.resolveForStep(accountId, at, { ...use, id: idOf(use.reference) })
        : deps.resolveSecretOutput(accountId, { id: output as Uuid, name: use.reference }),
    ),
  );
  const cluster = clusterUse && (await deps.resolveCluster(accountId, place, clusterOf(clusterUse, things)));
  if (credential === undefined) return { secrets, login: undefined, cluster };
  const { takes } = known.get(credential) ?? {};
  const login = await deps.resolveLogin(accountId, at, { reference: credential, id: idOf(credential), takes });
  return { secrets, login, cluster };
}

/** The connector of a cluster by the id that it had at the start, which `requireUnchanged` has compared. */
function clusterOf({ connector, selectors }: NonNullable<SecretDelivery["cluster"]>, things: readonly PlanReference[]) {
  const found = things.find(({ kind, reference }) => kind === "connector" && reference === connector);
  if (!found) throw problem("execution.reference_deleted", ["connector", connector]);
  return { reference: connector, id: found.id as Uuid, selectors };
}

/** What the plan names for the pipeline of a node. A plan that was stored before references had ids names nothing. */
function referencesOf({ references = [] }: Plan, around: readonly ChainedPipeline[]): readonly PlanReference[] {
  const pipeline = around.at(-1)?.node;
  return references.filter((one) => one.pipeline === pipeline);
}

/** Those of them that the stage of a node names. */
function thingsOf(references: readonly PlanReference[], { nodes }: Plan, definition: string): readonly PlanReference[] {
  const stage = nodes[definition]?.path[2];
  return references.filter((one) => one.stage !== null && one.stage === stage);
}

/** What the step's stage deploys, and where to: the same as at the start. Throws `execution.reference_deleted`. */
async function requireUnchanged(
  { findReferences }: OpenSecretsDeps,
  accountId: Uuid,
  { things, scope }: { readonly scope: InProject; readonly things: readonly PlanReference[] },
): Promise<readonly PlanReference[]> {
  if (things.length === 0) return [];
  const now = await findReferences(accountId, scope, things);
  const ids = new Map(now.map((one) => [`${one.kind} ${one.reference}`, one.id]));
  const other = things.find((one) => ids.get(`${one.kind} ${one.reference}`) !== one.id);
  if (other) throw problem("execution.reference_deleted", [other.kind, other.reference]);
  return things;
}

/** One entry for each secret of the attempt, by one statement. */
async function record(
  { db, audit }: OpenSecretsDeps,
  delivery: SecretDelivery,
  refused: Problem | undefined,
  opened?: Found,
): Promise<void> {
  const { accountId, delegate, home } = delivery;
  const actor: Actor = { kind: "delegate", accountId, ...delegate };
  const named = delivery.uses.flatMap(({ reference, output }, nth) =>
    output === undefined ? [{ reference, home, id: opened?.secrets[nth]?.id }] : [],
  );
  const login =
    delivery.credential === undefined ? [] : [{ reference: delivery.credential, home, id: opened?.login?.id }];
  const taken = [opened?.login, opened?.cluster].flatMap((from) =>
    (from?.takes ?? []).map(({ reference, secret }) => ({ reference, id: secret.id, home: from?.home ?? home })),
  );
  const all = new Map([...named, ...login, ...taken].map((one) => [one.id ?? one.reference, one]));
  const entries = [...all.values()].map(({ reference, id, home: from }): AuditedChange => {
    const key = referred(reference, from);
    return {
      operation: "secret.deliver",
      resourceType: "SECRET",
      resourceId: key?.identifier ?? reference,
      scope: within(key ?? home),
      refusal: refused && { code: refused.code, status: refused.status },
      after: {
        execution: toWire(delivery.runId),
        node: toWire(delivery.nodeId),
        attempt: delivery.attempt,
        delegate: delegate.name,
        project: `${home.orgIdentifier}/${home.projectIdentifier}`,
        ...(id ? { id: toWire(id) } : {}),
        ...(refused ? { reason: refused.message } : {}),
      },
    };
  });
  if (entries.length > 0) await db.transaction((tx) => audit.recordAll(tx, actor, entries));
}
