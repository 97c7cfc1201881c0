/**
 * Secrets for use. Resolving finds the secret that a reference names and checks its use; opening decrypts its content.
 * `require` is for resources that are saved with a reference.
 */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { referred, scopeOf, type Place } from "../../core/reference.ts";
import { permits as permitsActor, refusalOf, type Authorize } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { readContent } from "../content/read.ts";
import type { Secret, SecretType } from "../secret.ts";
import { ROLES, secretsOfLogin, userNameFault, type SshLogin, type SshRole } from "../ssh/login.ts";
import { findContent } from "../store/contents.ts";
import { findManager } from "../store/managers.ts";
import { findSecret, findSecretById } from "../store/secrets.ts";
import { describeOutside, permits, type RunPlace, type UsageScope } from "../scope/usage-scope.ts";
import type { Vault } from "../content/vault.ts";

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly vault: Vault;
};

/**
 * Returns the secret that `reference` (`account.x`, `org.x`, `x`) names from `home`, for a document that is saved with
 * it. Opens nothing. The actor must be allowed to use the secret, because the document will use it without the actor.
 * Throws `secret.bad_reference`, also for a secret that the actor may not see, and `secret.taking_refused`.
 */
export const requireSecret =
  (deps: Pick<Deps, "db">) =>
  async (actor: Actor, home: Place, reference: string, type?: SecretType): Promise<Secret> => {
    const key = referred(reference, home);
    const scope = scopeOf(actor.accountId, key ?? home);
    const refusal = key && refusalOf(actor, "core_secret_access", scope, key.identifier);
    const isVisible = key && (!refusal || permitsActor(actor, "core_secret_view", scope, key.identifier));
    const secret = isVisible ? await findSecret(deps.db, actor.accountId, key) : undefined;
    if (!secret || (type !== undefined && secret.type !== type))
      throw problem("secret.bad_reference", [reference, type === "ENCRYPTED_TEXT" ? "a text" : "this place"], {
        refusal: isVisible ? undefined : refusal,
      });
    if (refusal) throw problem("secret.taking_refused", [reference], { refusal });
    return secret;
  };

/**
 * A secret that may be used. `read` yields its bytes in chunks, which the caller erases. The first chunk is empty and
 * follows the opening of the data key, which may take seconds. `size` is in bytes.
 */
export type ResolvedSecret = Pick<Secret, "id" | "identifier" | "name" | "type"> & {
  readonly size: number;
  readonly read: () => AsyncGenerator<Buffer>;
};

/**
 * Finds a secret for use; `read` opens it. The usage scope must cover `run`; a connection test has no run. Throws
 * `secret.bad_reference`, `secret.use_refused`. Reading throws `secret.replaced` if the secret is changed meanwhile,
 * and `secret.unreadable` if it was sealed for another record.
 */
export const resolveSecret =
  (deps: Deps) =>
  async (actor: Actor, home: Place, reference: string, run?: RunPlace): Promise<ResolvedSecret> => {
    const { accountId } = actor;
    const key = referred(reference, home);
    deps.authorize(actor, "core_secret_access", scopeOf(accountId, key ?? home), key?.identifier);
    const secret = key && (await findSecret(deps.db, accountId, key));
    const content = secret && (await findContent(deps.db, accountId, secret.id));
    if (!secret || !content) throw problem("secret.bad_reference", [reference, "this place"]);
    if (run) await checkUse(deps, accountId, { secret, run });
    const { id, identifier, name, type } = secret;
    return {
      id,
      identifier,
      name,
      type,
      size: content.size,
      read: () => readContent(deps, accountId, { name, content }),
    };
  };

export type ResolveSecret = ReturnType<typeof resolveSecret>;

/** Opens a text secret and returns its value. Throws what `resolveSecret` throws, and `secret.not_text`. */
export const openText =
  (resolve: ResolveSecret) =>
  async (actor: Actor, home: Place, reference: string, run?: RunPlace): Promise<string> => {
    const secret = await resolve(actor, home, reference, run);
    if (secret.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [secret.name]);
    return textOf(secret);
  };

const textOf = async ({ read }: ResolvedSecret): Promise<string> =>
  Buffer.concat(await Array.fromAsync(read())).toString("utf8");

/** The value of a text secret, with its reference and its id. */
export type OpenedTextSecret = { readonly reference: string; readonly id: Uuid; readonly value: string };

type StoredReferences = {
  readonly references: readonly string[];
  /** The ids stored with the resource, by reference; null if unknown. */
  readonly ids: Readonly<Record<string, Uuid>> | null;
};

/**
 * Opens the text secrets that a resource at `home` references, outside of a run. The caller has checked the
 * permissions. Omits secrets that cannot be opened. Throws `secret.recreated` if another secret has the name of a
 * stored one.
 */
export const openTextSecrets =
  (resolve: ResolveSecret) =>
  async (accountId: Uuid, home: Place, { references, ids }: StoredReferences): Promise<readonly OpenedTextSecret[]> => {
    const open = async (reference: string): Promise<readonly OpenedTextSecret[]> => {
      const found = await resolve({ kind: "system", accountId }, home, reference).catch((error: unknown) => {
        if (error instanceof Problem && error.status < 500) return undefined;
        throw error;
      });
      if (found && ids && ids[reference] !== found.id) throw problem("secret.recreated", [reference, "connector"]);
      return found?.type === "ENCRYPTED_TEXT" ? [{ reference, id: found.id, value: await textOf(found) }] : [];
    };
    return (await Promise.all(references.map(open))).flat();
  };

/** For connection tests: returns values in plain text. Checks no permission. */
export type OpenTextSecrets = ReturnType<typeof openTextSecrets>;

/** The place of a step: references start from `home`, and usage scopes must cover `place`. */
export type StepPlace = { readonly home: Place; readonly place: RunPlace };

/**
 * A step's use of a secret: as text, or as a file with its content. `id` is the secret that the reference named when
 * the execution started; undefined for executions started before ids were stored.
 */
export type StepUse = {
  readonly reference: string;
  readonly as: "value" | "file";
  readonly id: Uuid | undefined;
};

/**
 * Finds a secret for a step; `read` opens it. The caller has checked the permissions. Throws what `resolveSecret`
 * throws, `secret.deleted` if no secret has this id, and `secret.not_text` for a file used as text.
 */
export const resolveForStep =
  (deps: Deps, resolve: ResolveSecret) =>
  async (accountId: Uuid, { home, place }: StepPlace, { reference, as, id }: StepUse): Promise<ResolvedSecret> => {
    const actor = { kind: "system", accountId } as const;
    const found = await (id === undefined
      ? resolve(actor, home, reference, place)
      : resolveById(deps, accountId, { reference, id, place }));
    if (as === "value" && found.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [found.name]);
    return found;
  };

/** Called when a delegate gets the step. Checks usage scopes and no permission. */
export type ResolveForStep = ReturnType<typeof resolveForStep>;

/** A use of the secret with a stored id. `reference` is for messages. */
type UseById = {
  readonly reference: string;
  readonly id: Uuid;
  readonly place: RunPlace;
};

async function resolveById(deps: Deps, accountId: Uuid, use: UseById): Promise<ResolvedSecret> {
  const secret = await findSecretById(deps.db, accountId, use.id);
  const content = secret && (await findContent(deps.db, accountId, secret.id));
  if (!secret || !content) throw problem("secret.deleted", [use.reference]);
  await checkUse(deps, accountId, { secret, run: use.place });
  const { id, identifier, name, type } = secret;
  return {
    id,
    identifier,
    name,
    type,
    size: content.size,
    read: () => readContent(deps, accountId, { name, content }),
  };
}

/** A credential found for a step, with the secrets of its login in their order; `read` of each opens it. */
export type ResolvedLogin = Pick<SshLogin, "port" | "userName"> & {
  readonly id: Uuid;
  /** The place of the credential, from which its references start. */
  readonly home: Place;
  readonly takes: readonly { readonly role: SshRole; readonly reference: string; readonly secret: ResolvedSecret }[];
};

/** `id` and `takes`: the secrets that the references named when the execution started, as in `StepUse`. */
export type LoginUse = {
  readonly reference: string;
  readonly id: Uuid | undefined;
  readonly takes: Readonly<Record<string, string>> | undefined;
};

/**
 * Finds an SSH credential for a step, and the secrets of its login; `read` of each opens it. The usage scopes of the
 * credential and of each of its secrets must cover the run, and the secrets must be those that the credential was saved
 * with. Throws what `resolveSecret` throws, `secret.deleted`, `secret.recreated` and `secret.bad_user_name`.
 */
export const resolveLogin =
  (deps: Deps, resolve: ResolveSecret) =>
  async (
    accountId: Uuid,
    { home, place }: StepPlace,
    { reference, id, takes = {} }: LoginUse,
  ): Promise<ResolvedLogin> => {
    const actor = { kind: "system", accountId } as const;
    const key = referred(reference, home);
    const secret = await (id === undefined
      ? key && findSecret(deps.db, accountId, key)
      : findSecretById(deps.db, accountId, id));
    if (id !== undefined && !secret) throw problem("secret.deleted", [reference]);
    if (!secret?.ssh) throw problem("secret.bad_reference", [reference, "a step on a remote host"]);
    const { ssh } = secret;
    const fault = userNameFault(ssh.userName);
    if (fault !== undefined) throw problem("secret.bad_user_name", [secret.identifier, fault]);
    await checkUse(deps, accountId, { secret, run: place });
    // The last author of the credential had access to its secrets. Another secret under the same name is refused.
    const resolved = await Promise.all(
      secretsOfLogin(ssh).map((taken) => resolveLoginSecret(resolve, actor, { secret, taken, place })),
    );
    // The credential may have been changed since the start. The author of the change needed access to its secrets.
    const replaced = resolved.find((one) => (takes[one.reference] ?? one.secret.id) !== one.secret.id);
    if (replaced) throw problem("secret.deleted", [replaced.reference]);
    const { orgIdentifier, projectIdentifier } = secret;
    return {
      id: secret.id,
      home: { orgIdentifier, projectIdentifier },
      port: ssh.port,
      userName: ssh.userName,
      takes: resolved,
    };
  };

/** As `ResolveForStep`, for the SSH credential of a step on another host. */
export type ResolveLogin = ReturnType<typeof resolveLogin>;

type LoginSecretUse = {
  readonly secret: Secret;
  readonly taken: ReturnType<typeof secretsOfLogin>[number];
  readonly place: RunPlace;
};

async function resolveLoginSecret(resolve: ResolveSecret, actor: Actor, { secret, taken, place }: LoginSecretUse) {
  const { role, reference } = taken;
  const found = await resolve(actor, secret, reference, place);
  if (found.type !== ROLES[role].type) throw problem("secret.bad_reference", [reference, ROLES[role].what]);
  if (secret.ssh?.ids?.[reference] !== found.id)
    throw problem("secret.recreated", [reference, `SSH credential '${secret.identifier}'`]);
  return { role, reference, secret: found };
}

/** The manager's scope also applies to secrets with their own scope, because it may have been narrowed since. */
async function checkUse(
  deps: Deps,
  accountId: Uuid,
  { secret, run }: { readonly secret: Secret; readonly run: RunPlace },
): Promise<void> {
  const ofManager = (await findManager(deps.db, accountId, secret.managerId))?.usageScope ?? null;
  const scope = secret.inheritsScope ? ofManager : secret.usageScope;
  if (!scope) throw problem("secret.use_refused", [secret.name, "it has no usage scope, so that no run may use it"]);
  const check = (by: UsageScope | null, whose: string): void => {
    if (!permits(by, run))
      throw problem("secret.use_refused", [secret.name, `${describeOutside(by ?? [], run)} ${whose}`]);
  };
  check(scope, secret.inheritsScope ? "the scope that it inherits from its secret manager" : "its usage scope");
  check(ofManager, "the usage scope of its secret manager");
}
