/** Creates, updates and deletes secret managers. They require the permissions of connectors, as clients expect. */
import { randomBytes } from "node:crypto";
import type { AuditedChange } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { SecretDeps } from "../create.ts";
import type { NewManager, SecretManager } from "./manager.ts";
import type { Wrappers } from "./kinds/kinds.ts";
import { ManagerFailed } from "./kinds/kind.ts";
import { noManager } from "./find.ts";
import { problem } from "../problems.ts";
import { prepareScopeAccess, prepareWidening } from "../scope/permission.ts";
import { checkScopeEntries } from "../scope/scoping.ts";
import { scopeToWire } from "../wire/usage-scope.ts";
import {
  countSecretsOfManager,
  deleteManagerRow,
  findManagerByIdentifier,
  insertManager,
  isManagerNameConflict,
  lockManager,
  updateManagerRow,
} from "../store/managers.ts";
import { deleteManagerScope, insertManagerScope } from "../store/scopes.ts";
import { ENTIRE_ACCOUNT } from "../scope/usage-scope.ts";

export type ManagerDeps = Pick<
  SecretDeps,
  "db" | "audit" | "authorize" | "clock" | "newId" | "facts" | "revalidateActor"
> & {
  readonly wrappers: Wrappers;
};

/**
 * Creates a secret manager after a test with a random key. Throws `secret.bad_scope`, `secret.beyond_reach`,
 * `secret.manager_useless`, `secret.duplicate_manager`.
 */
export const createManager =
  (deps: ManagerDeps) =>
  async (caller: Actor, given: NewManager): Promise<SecretManager> => {
    const { accountId } = caller;
    const { usageScope = ENTIRE_ACCOUNT } = given;
    const check = async (actor: Actor): Promise<void> => {
      deps.authorize(actor, "core_connector_edit", { accountId });
      if (!given.usageScope) return;
      await checkScopeEntries(deps.facts, actor, given.usageScope);
      (await prepareScopeAccess(deps.facts, actor, given.usageScope))(given.usageScope);
    };
    await check(caller);
    const at = deps.clock.now();
    const manager = { ...given, usageScope, id: deps.newId(), version: 1, createdAt: at, updatedAt: at };
    await testManager(deps.wrappers, accountId, manager);
    // The program may take seconds. Meanwhile the actor may have lost the credential or the permission.
    const actor = await deps.revalidateActor(caller);
    await check(actor);
    await deps.db.transaction(async (tx) => {
      if (!(await insertManager(tx, accountId, manager))) throw await duplicateProblem(tx, accountId, manager);
      await insertManagerScope(tx, accountId, { managerId: manager.id, scope: manager.usageScope ?? [] });
      await deps.audit.record(tx, actor, managerEntry("create", { after: manager }));
    });
    return manager;
  };

export type CreateManager = ReturnType<typeof createManager>;

/**
 * Replaces name, description, tags and usage scope. Kind and spec cannot change, because they open what the manager has
 * sealed. The new scope applies at once to secrets that inherit it. Throws what `createManager` throws for the scope,
 * `secret.no_manager`, `secret.other_kind`, `secret.duplicate_manager`, `core.stale_version`.
 */
export const updateManager =
  (deps: ManagerDeps) =>
  async (actor: Actor, given: NewManager, version?: number): Promise<SecretManager> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_edit", { accountId });
    const { usageScope = ENTIRE_ACCOUNT } = given;
    if (usageScope) await checkScopeEntries(deps.facts, actor, usageScope);
    const found = await findManagerByIdentifier(deps.db, accountId, given.identifier);
    // A wider scope lets executions use the manager's secrets in more places.
    const mayUse = (): void => deps.authorize(actor, "core_secret_access", { accountId });
    const requireWidening = await prepareWidening(deps.facts, actor, {
      mayUse,
      scopes: [found?.usageScope ?? null, usageScope],
    });
    return deps.db.transaction(async (tx) => {
      const current = await lockByIdentifier(tx, accountId, { identifier: given.identifier, version });
      if (given.kind !== current.kind || JSON.stringify(given.spec) !== JSON.stringify(current.spec))
        throw problem("secret.other_kind", [current.identifier]);
      requireWidening(current.usageScope, usageScope);
      const wanted = { ...current, ...given, usageScope, version: current.version + 1, updatedAt: deps.clock.now() };
      await updateManagerRow(tx, accountId, wanted).catch((error: unknown) => {
        throw isManagerNameConflict(error) ? problem("secret.duplicate_manager", ["name", wanted.name]) : error;
      });
      await deleteManagerScope(tx, accountId, wanted.id);
      await insertManagerScope(tx, accountId, { managerId: wanted.id, scope: wanted.usageScope ?? [] });
      await deps.audit.record(tx, actor, managerEntry("update", { before: current, after: wanted }));
      return wanted;
    });
  };

export type UpdateManager = ReturnType<typeof updateManager>;

/**
 * Deletes a manager without secrets. Throws `secret.no_manager`, `secret.built_in_manager`, `secret.manager_in_use`.
 */
export const deleteManager =
  (deps: ManagerDeps) =>
  async (actor: Actor, identifier: string, version?: number): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_delete", { accountId });
    await deps.db.transaction(async (tx) => {
      const current = await lockByIdentifier(tx, accountId, { identifier, version });
      if (current.id === accountId) throw problem("secret.built_in_manager");
      const secrets = await countSecretsOfManager(tx, accountId, current.id);
      if (secrets > 0) throw problem("secret.manager_in_use", [identifier, String(secrets)]);
      await deleteManagerRow(tx, accountId, current.id);
      await deps.audit.record(tx, actor, managerEntry("delete", { before: current }));
    });
  };

export type DeleteManager = ReturnType<typeof deleteManager>;

async function lockByIdentifier(
  tx: Tx,
  accountId: Uuid,
  { identifier, version }: { readonly identifier: string; readonly version: number | undefined },
): Promise<SecretManager> {
  const found = await findManagerByIdentifier(tx, accountId, identifier);
  const current = found && (await lockManager(tx, accountId, found.id));
  if (!current) throw noManager({ by: "identifier", identifier });
  if (version !== undefined && version !== current.version)
    throw commonProblem("core.stale_version", ["Secret manager", identifier, String(current.version), String(version)]);
  return current;
}

/** Wraps and unwraps a random key. A manager that returns another key would lose every secret. */
async function testManager(
  wrappers: Wrappers,
  accountId: Uuid,
  { id, kind, name, spec }: SecretManager,
): Promise<void> {
  const ref = { accountId, managerId: id, spec };
  const [probe, identity] = [randomBytes(32), `probe:${accountId}:${id}`];
  try {
    const back = await wrappers[kind].unwrap(ref, await wrappers[kind].wrap(ref, probe, identity), identity);
    if (!back.equals(probe)) throw new ManagerFailed("it returned another key than it wrapped");
  } catch (error) {
    throw error instanceof ManagerFailed ? problem("secret.manager_useless", [name], { cause: error }) : error;
  }
}

async function duplicateProblem(tx: Tx, accountId: Uuid, { identifier, name }: SecretManager): Promise<Error> {
  const same = await findManagerByIdentifier(tx, accountId, identifier);
  return same
    ? problem("secret.duplicate_manager", ["identifier", identifier])
    : problem("secret.duplicate_manager", ["name", name]);
}

const shownManager = ({ id, identifier, name, description, tags, kind, usageScope }: SecretManager) => ({
  id: toWire(id),
  identifier,
  name,
  description,
  tags,
  kind,
  usageScope: scopeToWire(usageScope),
});

/** The audit entry of a changed secret manager. */
const managerEntry = (
  operation: "create" | "update" | "delete",
  { before, after }: { readonly before?: SecretManager; readonly after?: SecretManager },
): AuditedChange => ({
  operation: `secret-manager.${operation}`,
  resourceType: "SECRET_MANAGER",
  resourceId: (after ?? before)?.identifier ?? "",
  scope: {},
  before: before && shownManager(before),
  after: after && shownManager(after),
});
