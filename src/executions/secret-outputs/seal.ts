/** Seals output variables of the type Secret before the engine is told of them, and opens them for later steps. */
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { ResolvedSecrets } from "../../delegates/index.ts";
import { type Event, type InstanceId, MASK, type NodeState, type Output, type Plan } from "../../engine/index.ts";
import type { HoldRootKey } from "../../identity/index.ts";
import { type Sealer, UnknownRootKey } from "../../platform/crypto/seal.ts";
import type { Db, Store, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { RunKey } from "../store/advance.ts";
import { insertSecretOutput, selectSecretOutput, sumSecretOutputs } from "../store/secret-outputs.ts";

export type SealDeps = { readonly newId: NewId; readonly sealer: Sealer; readonly holdRootKey: HoldRootKey };

/** As large as a variable of the environment may be. */
const MAX_VALUE = 128 * 1024 - 1;
const MAX_ALL = 4 * 1024 * 1024;

export const sealIdentity = (accountId: Uuid, id: Uuid): string => `secret-output:${accountId}:${id}`;

type Execution = {
  readonly run: RunKey;
  readonly plan: Plan;
  readonly nodes: { readonly get: (id: InstanceId) => NodeState | undefined };
};

/** The event with the id of what was sealed in place of each secret output. */
export const sealOutputs =
  (deps: SealDeps) =>
  async (tx: Tx, { run, plan, nodes }: Execution, event: Event): Promise<Event> => {
    if (event.kind !== "taskEnded" || event.outcome.kind !== "exited") return event;
    const node = nodes.get(event.node);
    const names = secretNames(plan, node?.definition);
    const { outputs, exitCode } = event.outcome;
    if (!node || !outputs.some(({ name }) => names.has(name))) return event;
    const isOpen = node.attempts.at(-1)?.endedAt === null;
    const secrets = outputs.filter(({ name }) => names.has(name));
    if (!isOpen || exitCode !== 0)
      return withOutputs(
        event,
        outputs.map((one) => (names.has(one.name) ? masked(one) : one)),
      );
    const fault = await faultOf(tx, run, secrets);
    if (fault !== undefined) return { ...event, outcome: { kind: "refused", message: fault } };
    try {
      const keyId = await deps.holdRootKey(tx, run.accountId);
      const sealed: Output[] = [];
      for (const output of outputs)
        sealed.push(names.has(output.name) ? await seal(deps, tx, { run, node, keyId }, output) : output);
      return withOutputs(event, sealed);
    } catch (error) {
      if (!(error instanceof UnknownRootKey)) throw error;
      const message = "its secret outputs cannot be sealed: the server lacks the root key of the account";
      return { ...event, outcome: { kind: "refused", message, type: "ConfigurationFailure" } };
    }
  };

export type SealOutputs = ReturnType<typeof sealOutputs>;

type Ended = Extract<Event, { kind: "taskEnded" }>;

const withOutputs = (event: Ended, outputs: readonly Output[]): Event =>
  event.outcome.kind === "exited" ? { ...event, outcome: { ...event.outcome, outputs } } : event;

const masked = ({ name }: Output): Output => ({ name, value: MASK });

function secretNames({ nodes }: Plan, definition: string | undefined): ReadonlySet<string> {
  const node = definition === undefined ? undefined : nodes[definition];
  const outputs = node?.kind === "step" ? (node.work["outputs"] as readonly unknown[] | undefined) : undefined;
  return new Set(
    (outputs ?? []).flatMap((one) => {
      const { name, type } = one as { readonly name: string; readonly type?: string };
      return type === "Secret" ? [name] : [];
    }),
  );
}

async function faultOf(tx: Tx, { accountId, id }: RunKey, secrets: readonly Output[]): Promise<string | undefined> {
  const sizes = secrets.map(({ name, value }) => ({ name, size: Buffer.byteLength(value) }));
  const large = sizes.find(({ size }) => size > MAX_VALUE);
  if (large) return `its secret output '${large.name}' has ${large.size} bytes, the limit is ${MAX_VALUE}`;
  const all = sizes.reduce((sum, { size }) => sum + size, await sumSecretOutputs(tx, accountId, id));
  if (all <= MAX_ALL) return undefined;
  return `the secret outputs of an execution have at most ${MAX_ALL} bytes together, and with its own they have ${all}`;
}

async function seal(
  { newId, sealer }: SealDeps,
  tx: Tx,
  { run, node, keyId }: { readonly run: RunKey; readonly node: NodeState; readonly keyId: string },
  { name, value }: Output,
): Promise<Output> {
  const id = newId();
  await insertSecretOutput(tx, run.accountId, {
    id,
    executionId: run.id,
    name: `${toWire(run.id)} ${node.path} ${name}`,
    size: Buffer.byteLength(value),
    sealed: sealer.seal(value, sealIdentity(run.accountId, id), keyId),
  });
  return { name, value: MASK, secret: id };
}

/** Throws `execution.secret_output_deleted`. `read` opens the value as of then: it may be sealed under another key. */
export const resolveSecretOutput =
  ({ db, sealer }: { readonly db: Db; readonly sealer: Sealer }) =>
  async (
    accountId: Uuid,
    { id, name }: { readonly id: Uuid; readonly name: string },
  ): Promise<ResolvedSecrets["secrets"][number]> => {
    const found = await find(db, accountId, { id, name });
    return {
      id,
      size: found.size,
      async *read() {
        const { sealed } = await find(db, accountId, { id, name });
        yield Buffer.from(sealer.open(sealed, sealIdentity(accountId, id)));
      },
    };
  };

export type ResolveSecretOutput = ReturnType<typeof resolveSecretOutput>;

async function find(db: Store, accountId: Uuid, { id, name }: { readonly id: Uuid; readonly name: string }) {
  const found = await selectSecretOutput(db, accountId, id);
  if (!found) throw problem("execution.secret_output_deleted", [name]);
  return found;
}
