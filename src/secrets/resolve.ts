import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import type { NoteRefused } from "../core/refused.ts";
import type { Authorize, Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { readContent } from "./read.ts";
import type { Secret, SecretType } from "./secret.ts";
import { ROLES, takenBy, userNameFault, type SshLogin, type SshRole } from "./ssh.ts";
import { findContent } from "./store/contents.ts";
import { findManager } from "./store/managers.ts";
import { findSecret } from "./store/secrets.ts";
import { outsideOf, permits, type RunPlace, type UsageScope } from "./usage-scope.ts";
import type { Vault } from "./vault.ts";

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly permits: Permits;
  readonly vault: Vault;
  /** Takes note of what a run was refused. */
  readonly refused?: NoteRefused;
};

/**
 * The secret that `reference` (`account.x`, `org.x`, `x`) names in a thing that lives at `home`, for documents that
 * are saved with it: nothing is opened. What the actor may not see does not exist, and what they may not use they do
 * not put where it is used by itself. Throws `secret.bad_reference`, `secret.taking_refused`.
 */
export type RequireSecret = (actor: Actor, home: Place, reference: string, type?: SecretType) => Promise<Secret>;

export const makeRequireSecret =
  (deps: Pick<Deps, "db" | "permits">): RequireSecret =>
  async (actor, home, reference, type) => {
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

/** A secret that was opened for use. `read` gives its bytes piece by piece; they are the caller's to protect. */
export type Resolved = Pick<Secret, "id" | "identifier" | "name" | "type"> & {
  readonly size: number;
  readonly read: () => AsyncGenerator<Buffer>;
};

/**
 * Opens a secret for use. `run` says where the run is that asks, and is held against the usage scope; what is not
 * a run (the test of a connector) has no such place. Throws `secret.bad_reference`, `secret.use_refused`; reading
 * throws `secret.replaced` when it is changed meanwhile, and `secret.unreadable` when it was sealed for another record.
 */
export type ResolveSecret = (actor: Actor, home: Place, reference: string, run?: RunPlace) => Promise<Resolved>;

export const makeResolveSecret =
  (deps: Deps): ResolveSecret =>
  async (actor, home, reference, run) => {
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

/** Throws `secret.not_text` too. */
export type ResolveText = (actor: Actor, home: Place, reference: string, run?: RunPlace) => Promise<string>;

export const makeResolveText =
  (resolve: ResolveSecret): ResolveText =>
  async (actor, home, reference, run) => {
    const secret = await resolve(actor, home, reference, run);
    if (secret.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [secret.name]);
    return Buffer.concat(await Array.fromAsync(secret.read())).toString("utf8");
  };

/** For what has no user: whoever made the thing at `home` has named them. Undefined for one that cannot be had. */
export const makeResolveTexts =
  (resolveText: ResolveText) =>
  (accountId: Uuid, home: Place, references: readonly string[]): Promise<(string | undefined)[]> =>
    Promise.all(
      references.map((reference) =>
        resolveText({ kind: "system", accountId }, home, reference).catch((error: unknown) => {
          if (error instanceof Problem && error.status < 500) return undefined;
          throw error;
        }),
      ),
    );

/** Where a run is now, by what its pipeline says of it. */
type RunPlaceOf<Home extends Place> = (accountId: Uuid, home: Home) => Promise<RunPlace>;

/** How a step asks for a secret: its text, or a file with its content. A file as a text is `secret.not_text`. */
type StepUse = { readonly reference: string; readonly as: "value" | "file" };

/** Tells the trail that a run was refused a secret: by where the run is, and by the name that it has for the secret. */
async function telling<T>(
  { refused }: Pick<Deps, "refused">,
  actor: Actor,
  use: RunUse,
  resolving: Promise<T>,
): Promise<T> {
  try {
    return await resolving;
  } catch (error) {
    if (error instanceof Problem && error.code === "secret.use_refused") {
      const { orgIdentifier, projectIdentifier } = use.home;
      refused?.({
        ...{ accountId: actor.accountId, actor, operation: "secret.use", code: error.code, status: error.status },
        ...{ resourceType: "SECRET", resourceId: use.reference },
        scope: { ...(orgIdentifier ? { orgIdentifier } : {}), ...(projectIdentifier ? { projectIdentifier } : {}) },
      });
    }
    throw error;
  }
}

type RunUse = { readonly home: Place; readonly reference: string };

/** Secrets for steps: at the moment of use the place of the run decides. */
export const makeResolveForRun =
  (deps: Pick<Deps, "refused">, resolve: ResolveSecret) =>
  <Home extends Place>(placeOf: RunPlaceOf<Home>) =>
  async (accountId: Uuid, home: Home, { reference, as }: StepUse): Promise<Resolved> => {
    // Whoever started the run was asked for the permission then.
    const actor = { kind: "system", accountId } as const;
    const place = await placeOf(accountId, home);
    const secret = await telling(deps, actor, { home, reference }, resolve(actor, home, reference, place));
    if (as === "value" && secret.type !== "ENCRYPTED_TEXT") throw problem("secret.not_text", [secret.name]);
    return secret;
  };

/** A credential that was opened for a step, and what it takes, in the order in which it names that. */
export type ResolvedLogin = Pick<SshLogin, "port" | "userName"> & {
  readonly takes: readonly { readonly role: SshRole; readonly reference: string; readonly secret: Resolved }[];
};

/**
 * An SSH credential for a step. The run has to be inside the usage scope of the credential and inside that of every secret
 * that it takes. Throws what ResolveSecret throws, and `secret.bad_user_name`.
 */
export const makeResolveLogin =
  (deps: Deps, resolve: ResolveSecret) =>
  <Home extends Place>(placeOf: RunPlaceOf<Home>) =>
  async (accountId: Uuid, home: Home, reference: string): Promise<ResolvedLogin> => {
    const actor = { kind: "system", accountId } as const;
    const key = referred(reference, home);
    const secret = key && (await findSecret(deps.db, accountId, key));
    if (!secret?.ssh) throw problem("secret.bad_reference", [reference, "a step on a remote host"]);
    const { ssh } = secret;
    const fault = userNameFault(ssh.userName);
    if (fault !== undefined) throw problem("secret.bad_user_name", [secret.identifier, fault]);
    const run = await placeOf(accountId, home);
    const opened = (async () => {
      await checkUse(deps, accountId, secret, run);
      return Promise.all(takenBy(ssh).map((taken) => opensFor(resolve, actor, { secret, taken, run })));
    })();
    return { port: ssh.port, userName: ssh.userName, takes: await telling(deps, actor, { home, reference }, opened) };
  };

type Taking = {
  readonly secret: Secret;
  readonly taken: ReturnType<typeof takenBy>[number];
  readonly run: RunPlace;
};

async function opensFor(resolve: ResolveSecret, actor: Actor, { secret, taken, run }: Taking) {
  const { role, reference } = taken;
  const found = await resolve(actor, secret, reference, run);
  if (found.type !== ROLES[role].type) throw problem("secret.bad_reference", [reference, ROLES[role].what]);
  return { role, reference, secret: found };
}

/** The manager's scope holds for secrets with one of their own too: it may have been narrowed since. */
async function checkUse(deps: Deps, accountId: Uuid, secret: Secret, run: RunPlace): Promise<void> {
  const ofManager = (await findManager(deps.db, accountId, secret.managerId))?.usageScope ?? null;
  const scope = secret.inheritsScope ? ofManager : secret.usageScope;
  if (!scope) throw problem("secret.use_refused", [secret.name, "it has no usage scope, so that no run may use it"]);
  const check = (by: UsageScope | null, whose: string): void => {
    if (!permits(by, run)) throw problem("secret.use_refused", [secret.name, `${outsideOf(by ?? [], run)} ${whose}`]);
  };
  check(scope, secret.inheritsScope ? "the scope that it inherits from its secret manager" : "its usage scope");
  check(ofManager, "the usage scope of its secret manager");
}
