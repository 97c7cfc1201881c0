import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { referred, scopeOf, type Place } from "../../core/reference.ts";
import type { Authorize, Permits } from "../../access/index.ts";
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
  readonly permits: Permits;
  readonly vault: Vault;
};

/**
 * The secret that `reference` (`account.x`, `org.x`, `x`) names in a thing that lives at `home`, for documents that
 * are saved with it: nothing is opened. What the actor may not see does not exist, and what they may not use they do
 * not put where it is used by itself. Throws `secret.bad_reference`, `secret.taking_refused`.
 */
export const requireSecret =
  (deps: Pick<Deps, "db" | "permits">) =>
  async (actor: Actor, home: Place, reference: string, type?: SecretType): Promise<Secret> => {
    const key = referred(reference, home);
    const may = (permission: "core_secret_view" | "core_secret_access"): boolean =>
      key !== undefined && deps.permits(actor, permission, scopeOf(actor.accountId, key), key.identifier);
    const visible = may("core_secret_view") || may("core_secret_access");
    const secret = visible && key ? await findSecret(deps.db, actor.accountId, key) : undefined;
    if (!secret || (type !== undefined && secret.type !== type))
      throw problem("secret.bad_reference", [reference, type === "ENCRYPTED_TEXT" ? "a text" : "this place"]);
    if (!may("core_secret_access")) throw problem("secret.taking_refused", [reference]);
    return secret;
  };

/**
 * A secret that may be used. `read` gives its bytes piece by piece; they are the caller's to protect. The first piece is
 * empty and comes once the secret manager has opened the data key, which may take seconds.
 */
export type ResolvedSecret = Pick<Secret, "id" | "identifier" | "name" | "type"> & {
  readonly size: number;
  readonly read: () => AsyncGenerator<Buffer>;
};

/**
 * Opens a secret for use. `run` says where the run is that asks, and is held against the usage scope; what is not
 * a run (the test of a connector) has no such place. Throws `secret.bad_reference`, `secret.use_refused`; reading
 * throws `secret.replaced` when it is changed meanwhile, and `secret.unreadable` when it was sealed for another record.
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
    if (run) await checkUse(deps, accountId, secret, run);
    const { id, identifier, name, type } = secret;
    return { id, identifier, name, type, size: content.size, read: () => readContent(deps, accountId, name, content) };
  };

export type ResolveSecret = ReturnType<typeof resolveSecret>;

/** Throws `secret.not_text` too. */
export const resolveText =
  (resolve: ResolveSecret) =>
  async (actor: Actor, home: Place, reference: string, run?: RunPlace): Promise<string> => {
    const secret = await resolve(actor, home, reference, run);
    if (secret.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [secret.name]);
    return textOf(secret);
  };

const textOf = async ({ read }: ResolvedSecret): Promise<string> =>
  Buffer.concat(await Array.fromAsync(read())).toString("utf8");

/** A text that a thing names, and the secret that it is of. */
export type OpenedTextSecret = { readonly reference: string; readonly id: Uuid; readonly value: string };

/**
 * Opens the texts that a thing at `home` names, for what is no run; whose permissions that takes, the caller has checked.
 * `ids` are those that the thing was saved with, by reference; null where they are unknown. What cannot be had is left
 * out. Throws `secret.recreated` when another secret has got one of the names.
 */
export const openTextSecrets =
  (resolve: ResolveSecret) =>
  async (
    accountId: Uuid,
    home: Place,
    references: readonly string[],
    ids: Readonly<Record<string, Uuid>> | null,
  ): Promise<readonly OpenedTextSecret[]> => {
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

export type OpenTextSecrets = ReturnType<typeof openTextSecrets>;

/** Where a step stands: plain references lead to `home`, and `place` is held against usage scopes. */
export type StepPlace = { readonly home: Place; readonly place: RunPlace };

/**
 * How a step asks for a secret: its text, or a file with its content. `id` is the secret that the reference named when
 * the execution started; undefined for executions that were started before ids were stored.
 */
export type StepUse = {
  readonly reference: string;
  readonly as: "value" | "file";
  readonly id: Uuid | undefined;
};

/**
 * Opens a secret for a step; whose permissions that takes, the caller has checked. Throws what ResolveSecret throws,
 * `secret.deleted` when the secret of this id does not exist, and `secret.not_text` for a file that is asked for as text.
 */
export const resolveForStep =
  (deps: Deps, resolve: ResolveSecret) =>
  async (accountId: Uuid, { home, place }: StepPlace, { reference, as, id }: StepUse): Promise<ResolvedSecret> => {
    const actor = { kind: "system", accountId } as const;
    const found = await (id === undefined
      ? resolve(actor, home, reference, place)
      : openFound(deps, accountId, reference, await findSecretById(deps.db, accountId, id), place));
    if (as === "value" && found.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [found.name]);
    return found;
  };

export type ResolveForStep = ReturnType<typeof resolveForStep>;

async function openFound(
  deps: Deps,
  accountId: Uuid,
  reference: string,
  secret: Secret | undefined,
  place: RunPlace,
): Promise<ResolvedSecret> {
  const content = secret && (await findContent(deps.db, accountId, secret.id));
  if (!secret || !content) throw problem("secret.deleted", [reference]);
  await checkUse(deps, accountId, secret, place);
  const { id, identifier, name, type } = secret;
  return { id, identifier, name, type, size: content.size, read: () => readContent(deps, accountId, name, content) };
}

/** A credential that was opened for a step, and what it takes, in the order in which it names that. */
export type ResolvedLogin = Pick<SshLogin, "port" | "userName"> & {
  readonly id: Uuid;
  /** Where the credential is: its references are seen from there. */
  readonly home: Place;
  readonly takes: readonly { readonly role: SshRole; readonly reference: string; readonly secret: ResolvedSecret }[];
};

/** `id` and `takes`: what the references named when the execution started, as in `StepUse`. */
export type LoginUse = {
  readonly reference: string;
  readonly id: Uuid | undefined;
  readonly takes: Readonly<Record<string, string>> | undefined;
};

/**
 * Opens an SSH credential for a step. The run has to be inside the usage scope of the credential and inside that of
 * every secret that it takes, and these are those that the credential was saved with. Throws what ResolveSecret throws,
 * `secret.deleted`, `secret.recreated` and `secret.bad_user_name`.
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
    await checkUse(deps, accountId, secret, place);
    // Who may use the credential may use what its last saver could: another secret under the name is none of that.
    const opened = await Promise.all(
      secretsOfLogin(ssh).map((taken) => openLoginSecret(resolve, actor, { secret, taken, place })),
    );
    // A credential that was changed since may take others; whoever changed it had to hold access to them.
    const replaced = opened.find((one) => (takes[one.reference] ?? one.secret.id) !== one.secret.id);
    if (replaced) throw problem("secret.deleted", [replaced.reference]);
    const { orgIdentifier, projectIdentifier } = secret;
    const from = { id: secret.id, home: { orgIdentifier, projectIdentifier } };
    return { ...from, port: ssh.port, userName: ssh.userName, takes: opened };
  };

export type ResolveLogin = ReturnType<typeof resolveLogin>;

type LoginSecretUse = {
  readonly secret: Secret;
  readonly taken: ReturnType<typeof secretsOfLogin>[number];
  readonly place: RunPlace;
};

async function openLoginSecret(resolve: ResolveSecret, actor: Actor, { secret, taken, place }: LoginSecretUse) {
  const { role, reference } = taken;
  const found = await resolve(actor, secret, reference, place);
  if (found.type !== ROLES[role].type) throw problem("secret.bad_reference", [reference, ROLES[role].what]);
  if (secret.ssh?.ids?.[reference] !== found.id)
    throw problem("secret.recreated", [reference, `SSH credential '${secret.identifier}'`]);
  return { role, reference, secret: found };
}

/** The manager's scope holds for secrets with one of their own too: it may have been narrowed since. */
async function checkUse(deps: Deps, accountId: Uuid, secret: Secret, run: RunPlace): Promise<void> {
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
