import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { commonProblem } from "../core/problems.ts";
import { scopeOf, within } from "../core/reference.ts";
import type { Content } from "../platform/crypto/chunks.ts";
import type { Tx } from "../platform/db/db.ts";
import { checkSize, requireManager, type SecretDeps } from "./create.ts";
import { findPermitted, notFound, type SecretRef } from "./find.ts";
import type { ManagerName, SecretManager } from "./managers/manager.ts";
import { problem } from "./problems.ts";
import { effectiveScope, prepareWidening, type RequireWidening } from "./scope/permission.ts";
import { checkScope, decideScoping, type Scoping, type ScopingInput } from "./scope/scoping.ts";
import { shownSecret, type Secret } from "./secret.ts";
import type { SecretName, SshLogin, StoredLogin } from "./ssh/login.ts";
import { recordLoginReferences, requireLoginSecrets } from "./ssh/references.ts";
import { deleteContent, insertContent } from "./store/contents.ts";
import { deleteSecretScope, insertSecretScope } from "./store/scopes.ts";
import { isNameConflict, lockSecret, updateSecretRow } from "./store/secrets.ts";
import { retryOnKeyReplacement } from "./content/vault.ts";

/** Undefined fields stay unchanged. */
export type SecretChanges = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly scoping?: ScopingInput | undefined;
  readonly content?: Content | undefined;
  /** For an SSH credential; replaces the whole login. */
  readonly login?: SshLogin<SecretName> | undefined;
  /** Must be the manager that the secret has. */
  readonly manager?: ManagerName | undefined;
};

type SecretUpdate = {
  readonly changes: SecretChanges;
  /** The version that the caller has read; undefined accepts any. */
  readonly version?: number | undefined;
};

/**
 * Changes a secret. Throws `secret.not_found`, `core.stale_version`, `secret.other_manager`; `secret.beyond_reach` and
 * `access.not_permitted` for a wider scope; and the problems of `createSecret` for content, login, scope and name.
 */
export const updateSecret =
  (deps: SecretDeps) =>
  async (
    caller: Actor,
    ref: SecretRef,
    { changes: { content, login, manager: named, ...changes }, version }: SecretUpdate,
  ): Promise<Secret> => {
    const { accountId } = caller;
    const check = async (actor: Actor) => {
      const secret = await findPermitted(deps, actor, "core_secret_edit", ref);
      if (named && !isManagerOf(secret, named)) throw problem("secret.other_manager", [secret.name]);
      const manager = await requireManager(deps.db, accountId, { by: "id", id: secret.managerId });
      const given = changes.scoping && decideScoping(changes.scoping, secret);
      if (changes.scoping?.usageScope && given)
        await checkScope(deps.facts, actor, { scope: given.usageScope, manager });
      const requireWidening = given && (await prepareSecretWidening(deps, actor, { manager, found: secret, given }));
      return { actor, found: secret, manager, requireWidening };
    };
    const checked = await check(caller);
    const { found, manager } = checked;
    if (content) checkSize(deps, found.name, content);
    const ssh = login && (await requireLoginSecrets(deps, caller, { home: found, login }));
    return retryOnKeyReplacement(async () => {
      const sealed =
        content && (await deps.vault.seal({ accountId, id: found.id, name: found.name, manager }, content));
      // The program of the manager may take seconds. Meanwhile the actor may have lost the credential or the
      // permission.
      const { actor, requireWidening } = sealed ? await check(await deps.revalidateActor(caller)) : checked;
      return deps.db.transaction(async (tx) => {
        // The row is locked, so that concurrent updates do not overwrite each other.
        const current = await lockSecret(tx, accountId, found.id);
        if (!current) throw notFound(ref);
        const wanted = applyChanges(current, { ...changes, ssh }, deps.clock.now());
        requireWidening?.(effectiveScope(current, manager), effectiveScope(wanted, manager));
        const saved = await saveSecret(tx, accountId, { secret: wanted, expected: version });
        if (saved === undefined) throw staleVersion(current, version);
        if (changes.scoping) await replaceScope(tx, accountId, wanted);
        if (sealed) {
          await deps.vault.lockKey(tx, accountId, sealed);
          await deleteContent(tx, accountId, wanted.id);
          await insertContent(tx, accountId, { content: sealed, at: wanted.updatedAt });
        }
        if (ssh) await recordLoginReferences(tx, accountId, wanted);
        await deps.audit.record(tx, actor, {
          operation: "secret.update",
          resourceType: "SECRET",
          resourceId: current.identifier,
          scope: within(current),
          before: shownSecret(current),
          after: { ...shownSecret(wanted), ...(sealed ? { content: "replaced" } : {}) },
        });
        return { ...wanted, version: saved };
      });
    });
  };

export type UpdateSecret = ReturnType<typeof updateSecret>;

type SecretWidening = { readonly manager: SecretManager; readonly found: Secret; readonly given: Scoping };

/** A wider scope requires access to the secret and to the environments. */
const prepareSecretWidening = (
  { facts, authorize }: Pick<SecretDeps, "facts" | "authorize">,
  actor: Actor,
  { manager, found, given }: SecretWidening,
): Promise<RequireWidening> => {
  const mayUse = (): void => authorize(actor, "core_secret_access", scopeOf(actor.accountId, found), found.identifier);
  return prepareWidening(facts, actor, {
    mayUse,
    scopes: [effectiveScope(found, manager), effectiveScope(given, manager)],
  });
};

async function replaceScope(tx: Tx, accountId: Uuid, { id, usageScope }: Secret): Promise<void> {
  await deleteSecretScope(tx, accountId, id);
  await insertSecretScope(tx, accountId, { secretId: id, scope: usageScope ?? [] });
}

const isManagerOf = (secret: Secret, name: ManagerName): boolean =>
  name.by === "id" ? name.id === secret.managerId : name.identifier === secret.managerIdentifier;

const applyChanges = (
  current: Secret,
  {
    name,
    description,
    tags,
    scoping,
    ssh,
  }: Omit<SecretChanges, "content" | "login" | "manager"> & { readonly ssh: StoredLogin | undefined },
  at: number,
): Secret => ({
  ...current,
  ...(scoping && decideScoping(scoping, current)),
  name: name ?? current.name,
  description: description ?? current.description,
  tags: tags ?? current.tags,
  ssh: ssh ?? current.ssh,
  updatedAt: at,
});

/** The unique index reports a duplicate name. A check before the update could be outdated. */
async function saveSecret(
  tx: Tx,
  accountId: Uuid,
  { secret, expected }: { readonly secret: Secret; readonly expected: number | undefined },
): Promise<number | undefined> {
  try {
    return await updateSecretRow(tx, accountId, { secret, expected });
  } catch (error) {
    throw isNameConflict(error) ? problem("secret.duplicate_name", [secret.name]) : error;
  }
}

/** The problem `core.stale_version`. */
export const staleVersion = (current: Secret, version: number | undefined): Error =>
  commonProblem("core.stale_version", ["Secret", current.identifier, String(current.version), String(version)]);
