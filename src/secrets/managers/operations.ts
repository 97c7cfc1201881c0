/** Making, changing and deleting secret managers. In this API family a manager is a connector, so its permissions are those. */
import { randomBytes } from "node:crypto";
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
  "db" | "audit" | "authorize" | "clock" | "newId" | "facts" | "stillActor"
> & {
  readonly wrappers: Wrappers;
};

/** Tries the manager before it is kept. Throws `secret.bad_scope`, `secret.beyond_reach`, `secret.manager_useless`, `secret.duplicate_manager`. */
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
    // The program may take seconds, in which the actor may have lost credential or permission.
    const actor = await deps.stillActor(caller);
    await check(actor);
    await deps.db.transaction(async (tx) => {
      if (!(await insertManager(tx, accountId, manager))) throw await taken(tx, accountId, manager);
      await insertManagerScope(tx, accountId, manager.id, manager.usageScope ?? []);
      await record(deps, tx, actor, "create", { after: manager });
    });
    return manager;
  };

export type CreateManager = ReturnType<typeof createManager>;

/**
 * All of it is replaced. Its kind and spec may only be what they are: they open what it has sealed.
 *
 * The scope holds at once for the secrets that inherit it: whoever resolves one reads it from here.
 */
export const updateManager =
  (deps: ManagerDeps) =>
  async (actor: Actor, given: NewManager, version?: number): Promise<SecretManager> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_edit", { accountId });
    const { usageScope = ENTIRE_ACCOUNT } = given;
    if (usageScope) await checkScopeEntries(deps.facts, actor, usageScope);
    const found = await findManagerByIdentifier(deps.db, accountId, given.identifier);
    // Whoever widens it lets runs use, elsewhere, whatever secrets it has.
    const mayUse = (): void => deps.authorize(actor, "core_secret_access", { accountId });
    const requireWidening = await prepareWidening(deps.facts, actor, mayUse, found?.usageScope ?? null, usageScope);
    return deps.db.transaction(async (tx) => {
      const current = await lockByIdentifier(tx, accountId, given.identifier, version);
      if (given.kind !== current.kind || JSON.stringify(given.spec) !== JSON.stringify(current.spec))
        throw problem("secret.other_kind", [current.identifier]);
      requireWidening(current.usageScope, usageScope);
      const wanted = { ...current, ...given, usageScope, version: current.version + 1, updatedAt: deps.clock.now() };
      await updateManagerRow(tx, accountId, wanted).catch((error: unknown) => {
        throw isManagerNameConflict(error) ? problem("secret.duplicate_manager", ["name", wanted.name]) : error;
      });
      await deleteManagerScope(tx, accountId, wanted.id);
      await insertManagerScope(tx, accountId, wanted.id, wanted.usageScope ?? []);
      await record(deps, tx, actor, "update", { before: current, after: wanted });
      return wanted;
    });
  };

export type UpdateManager = ReturnType<typeof updateManager>;

/** Throws `secret.no_manager`, `secret.built_in_manager`, `secret.manager_in_use`. */
export const deleteManager =
  (deps: ManagerDeps) =>
  async (actor: Actor, identifier: string, version?: number): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_delete", { accountId });
    await deps.db.transaction(async (tx) => {
      const current = await lockByIdentifier(tx, accountId, identifier, version);
      if (current.id === accountId) throw problem("secret.built_in_manager");
      const secrets = await countSecretsOfManager(tx, accountId, current.id);
      if (secrets > 0) throw problem("secret.manager_in_use", [identifier, String(secrets)]);
      await deleteManagerRow(tx, accountId, current.id);
      await record(deps, tx, actor, "delete", { before: current });
    });
  };

export type DeleteManager = ReturnType<typeof deleteManager>;

async function lockByIdentifier(
  tx: Tx,
  accountId: Uuid,
  identifier: string,
  version: number | undefined,
): Promise<SecretManager> {
  const found = await findManagerByIdentifier(tx, accountId, identifier);
  const current = found && (await lockManager(tx, accountId, found.id));
  if (!current) throw noManager({ by: "identifier", identifier });
  if (version !== undefined && version !== current.version)
    throw commonProblem("core.stale_version", ["Secret manager", identifier, String(current.version), String(version)]);
  return current;
}

/** A manager that cannot give back what it was given would lose every secret. */
async function testManager(
  wrappers: Wrappers,
  accountId: Uuid,
  { id, kind, name, spec }: SecretManager,
): Promise<void> {
  const ref = { accountId, managerId: id, spec };
  const [probe, identity] = [randomBytes(32), `probe:${accountId}:${id}`];
  try {
    const back = await wrappers[kind].unwrap(ref, await wrappers[kind].wrap(ref, probe, identity), identity);
    if (!back.equals(probe)) throw new ManagerFailed("it gave back another key");
  } catch (error) {
    throw error instanceof ManagerFailed ? problem("secret.manager_useless", [name], { cause: error }) : error;
  }
}

async function taken(tx: Tx, accountId: Uuid, { identifier, name }: SecretManager): Promise<Error> {
  const same = await findManagerByIdentifier(tx, accountId, identifier);
  return same
    ? problem("secret.duplicate_manager", ["identifier", identifier])
    : problem("secret.duplicate_manager", ["name", name]);
}

const viewOf = ({ id, identifier, name, description, tags, kind, usageScope }: SecretManager) => ({
  id: toWire(id),
  identifier,
  name,
  description,
  tags,
  kind,
  usageScope: scopeToWire(usageScope),
});

const record = (
  { audit }: Pick<ManagerDeps, "audit">,
  tx: Tx,
  actor: Actor,
  verb: "create" | "update" | "delete",
  { before, after }: { readonly before?: SecretManager; readonly after?: SecretManager },
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `secret-manager.${verb}`,
    resourceType: "SECRET_MANAGER",
    resourceId: (after ?? before)?.identifier ?? "",
    scope: {},
    before: before && viewOf(before),
    after: after && viewOf(after),
  });
