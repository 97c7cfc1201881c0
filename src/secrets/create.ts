import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../core/ids.ts";
import { scopeOf, within } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, Dereference } from "../access/index.ts";
import type { RevalidateActor } from "../identity/index.ts";
import type { Content } from "../platform/crypto/chunks.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import type { ManagerName, SecretManager } from "./managers/manager.ts";
import { problem } from "./problems.ts";
import { prepareScopeAccess } from "./scope/permission.ts";
import { checkScope, decideScoping, type ScopeFacts, type ScopingInput } from "./scope/scoping.ts";
import { shownSecret, type Secret } from "./secret.ts";
import type { SecretName, SshLogin } from "./ssh/login.ts";
import { recordLoginReferences, requireLoginSecrets } from "./ssh/references.ts";
import { insertContent } from "./store/contents.ts";
import { findManager, findManagerByIdentifier } from "./store/managers.ts";
import { insertSecretScope } from "./store/scopes.ts";
import { findSecret, insertSecret, isNameTaken } from "./store/secrets.ts";
import { retryOnKeyReplacement, type Vault } from "./content/vault.ts";

export type SecretDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly dereference: Dereference;
  readonly requireScope: RequireScope;
  readonly revalidateActor: RevalidateActor;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly vault: Vault;
  readonly facts: ScopeFacts;
  /** Maximum size of a content, in bytes. */
  readonly maxContent: number;
};

export type NewSecret = Pick<
  Secret,
  "orgIdentifier" | "projectIdentifier" | "identifier" | "name" | "description" | "tags"
> & {
  /** Used if a secret of another type has the identifier. Without it, that is a conflict. */
  readonly otherIdentifier?: string;
  /** Undefined: the built-in manager. */
  readonly manager?: ManagerName | undefined;
  readonly scoping: ScopingInput;
} & (
    | { readonly type: "ENCRYPTED_TEXT" | "ENCRYPTED_FILE"; readonly content: Content }
    | { readonly type: "SSH_CREDENTIAL"; readonly login: SshLogin<SecretName> }
  );

/**
 * Creates a secret. Reads the content before it returns. Throws what RequireScope throws, `secret.no_manager`,
 * `secret.bad_scope`, `secret.beyond_manager`, `secret.beyond_reach`, `secret.too_large`,
 * `secret.duplicate_identifier`, `secret.duplicate_name`; for the secrets of a credential `secret.bad_reference`,
 * `secret.taking_refused`.
 */
export const createSecret =
  (deps: SecretDeps) =>
  async (caller: Actor, { scoping, manager: wanted, otherIdentifier, ...given }: NewSecret): Promise<Secret> => {
    const { content, login, ...input } = { content: undefined, login: undefined, ...given };
    const { accountId } = caller;
    const { usageScope, ...inherits } = decideScoping(scoping);
    const check = async (actor: Actor): Promise<SecretManager> => {
      deps.authorize(actor, "core_secret_edit", scopeOf(accountId, input), input.identifier);
      if (content) checkSize(deps, input.name, content);
      await deps.requireScope(actor, input);
      const found = await requireManager(deps.db, accountId, wanted ?? { by: "id", id: accountId });
      await checkScope(deps.facts, actor, { scope: usageScope, manager: found });
      // An inherited scope needs no check, because a new secret gives no access to existing values.
      if (usageScope) (await prepareScopeAccess(deps.facts, actor, usageScope))(usageScope);
      return found;
    };
    const manager = await check(caller);
    const ssh = login ? await requireLoginSecrets(deps, caller, { home: input, login }) : null;
    const at = deps.clock.now();
    const generated = {
      id: deps.newId(),
      managerId: manager.id,
      managerIdentifier: manager.identifier,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    const asked: Secret = { ...input, ...inherits, usageScope, ...generated, ssh };
    return retryOnKeyReplacement(async () => {
      const sealed =
        content && (await deps.vault.seal({ accountId, id: asked.id, name: asked.name, manager }, content));
      // The program of the manager may take seconds. Meanwhile the actor may have lost the credential or the
      // permission.
      const actor = sealed ? await deps.revalidateActor(caller) : caller;
      if (sealed) await check(actor);
      return deps.db.transaction(async (tx) => {
        const secret = await insertUnder(tx, deps, { actor, secret: asked, otherIdentifier });
        await insertSecretScope(tx, accountId, { secretId: secret.id, scope: secret.usageScope ?? [] });
        if (sealed) {
          await deps.vault.lockKey(tx, accountId, sealed);
          await insertContent(tx, accountId, { content: sealed, at });
        }
        await recordLoginReferences(tx, accountId, secret);
        await deps.audit.record(tx, actor, {
          operation: "secret.create",
          resourceType: "SECRET",
          resourceId: secret.identifier,
          scope: within(secret),
          after: shownSecret(secret),
        });
        return secret;
      });
    });
  };

export type CreateSecret = ReturnType<typeof createSecret>;

type Insertion = {
  readonly actor: Actor;
  readonly secret: Secret;
  readonly otherIdentifier: string | undefined;
};

/** Inserts the secret; under the other identifier if a secret of another type has the first one. */
async function insertUnder(
  tx: Tx,
  { authorize }: Pick<SecretDeps, "authorize">,
  { actor, secret, otherIdentifier }: Insertion,
): Promise<Secret> {
  const { accountId } = actor;
  if (await insertSecret(tx, accountId, secret)) return secret;
  const holder = otherIdentifier === undefined ? undefined : await findSecret(tx, accountId, secret);
  if (otherIdentifier !== undefined && holder && holder.type !== secret.type) {
    authorize(actor, "core_secret_edit", scopeOf(accountId, secret), otherIdentifier);
    const other = { ...secret, identifier: otherIdentifier };
    if (await insertSecret(tx, accountId, other)) return other;
  }
  throw await duplicateProblem(tx, accountId, secret);
}

/** Throws `secret.too_large`. */
export function checkSize({ maxContent }: Pick<SecretDeps, "maxContent">, name: string, content: Content): void {
  if (content.size > maxContent) throw problem("secret.too_large", [name, String(maxContent)]);
}

/** Throws `secret.no_manager`. */
export async function requireManager(db: Db, accountId: Uuid, name: ManagerName): Promise<SecretManager> {
  const manager =
    name.by === "id"
      ? await findManager(db, accountId, name.id)
      : await findManagerByIdentifier(db, accountId, name.identifier);
  if (!manager) throw problem("secret.no_manager", [name.by, name.by === "id" ? toWire(name.id) : name.identifier]);
  return manager;
}

async function duplicateProblem(tx: Tx, accountId: Uuid, secret: Secret): Promise<Error> {
  const name = secret.orgIdentifier === null && (await isNameTaken(tx, accountId, secret));
  return name
    ? problem("secret.duplicate_name", [secret.name])
    : problem("secret.duplicate_identifier", [secret.identifier]);
}
