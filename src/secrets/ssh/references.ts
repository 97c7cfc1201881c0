/** Turns the secrets that a request names in a login into references and ids, when an SSH credential is saved. */
import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { referred, scopeOf, type Place } from "../../core/reference.ts";
import { permits, refusalOf, type ReferenceSource } from "../../access/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { Secret, SecretKey } from "../secret.ts";
import {
  referenceFrom,
  ROLES,
  secretsOfLogin,
  type SecretName,
  type SshLogin,
  type SshRole,
  type StoredLogin,
} from "./login.ts";
import { findSecret, findSecretById } from "../store/secrets.ts";
import { secretReferences } from "../references.ts";

type Deps = { readonly db: Db };

/**
 * Resolves the secrets of a login of a credential at `home` to references and ids. Each secret must exist, have the
 * type of its role, and be usable by the actor, because users of the credential use it through the credential. A secret
 * that the actor may not see is reported as missing. Throws `secret.bad_reference`, `secret.taking_refused`.
 */
export async function requireLoginSecrets(
  deps: Deps,
  actor: Actor,
  { home, login: { auth, ...login } }: { readonly home: Place; readonly login: SshLogin<SecretName> },
): Promise<StoredLogin> {
  const resolve = (role: SshRole, name: SecretName): Promise<LoginSecret> =>
    requireLoginSecret(deps, actor, { home, role, name });
  if (auth.kind === "password") {
    const password = await resolve("password", auth.password);
    return { ...login, auth: { kind: "password", password: password.reference }, ids: idsOf([password]) };
  }
  const key = await resolve("key", auth.key);
  const passphrase = auth.passphrase && (await resolve("passphrase", auth.passphrase));
  const ids = idsOf(passphrase ? [key, passphrase] : [key]);
  return { ...login, auth: { kind: "key", key: key.reference, passphrase: passphrase && passphrase.reference }, ids };
}

type LoginSecret = { readonly reference: string; readonly id: Uuid };
const idsOf = (all: readonly LoginSecret[]): Readonly<Record<string, Uuid>> =>
  Object.fromEntries(all.map(({ reference, id }) => [reference, id]));

type NamedLoginSecret = { readonly home: Place; readonly role: SshRole; readonly name: SecretName };

async function requireLoginSecret(
  { db }: Deps,
  actor: Actor,
  { home, role, name }: NamedLoginSecret,
): Promise<LoginSecret> {
  const found = await find(db, actor.accountId, { home, name });
  const scope = scopeOf(actor.accountId, found ?? home);
  const refusal = found && refusalOf(actor, "core_secret_access", scope, found.identifier);
  const isVisible = found && (!refusal || permits(actor, "core_secret_view", scope, found.identifier));
  const reference = found && referenceFrom(home, found);
  if (!isVisible || reference === undefined || found.type !== ROLES[role].type)
    throw problem("secret.bad_reference", [shown(name, home), ROLES[role].what], {
      refusal: isVisible ? undefined : refusal,
    });
  if (refusal) throw problem("secret.taking_refused", [reference], { refusal });
  return { reference, id: found.id };
}

/** A text that is neither a reference nor an id may be the password itself, so it is not repeated. */
function shown(name: SecretName, home: Place): string {
  if (name.by === "id") return fromWire(name.id) ? name.id : "…";
  return referred(name.reference, home) ? name.reference : "…";
}

async function find(
  db: Db,
  accountId: Uuid,
  { home, name }: { readonly home: Place; readonly name: SecretName },
): Promise<Secret | undefined> {
  if (name.by === "id") {
    const id = fromWire(name.id);
    return id && findSecretById(db, accountId, id);
  }
  const key: SecretKey | undefined = referred(name.reference, home);
  return key && findSecret(db, accountId, key);
}

/**
 * Records references from a credential to its secrets, which protect these from deletion. Does nothing for other types.
 */
export async function recordLoginReferences(tx: Tx, accountId: Uuid, { ssh, ...secret }: Secret): Promise<void> {
  if (!ssh) return;
  const references = secretsOfLogin(ssh).map(({ reference }) => reference);
  await secretReferences.note(tx, accountId, sourceOf(secret), references);
}

/** Deletes the references from a deleted credential. Does nothing for other types. */
export async function deleteLoginReferences(tx: Tx, accountId: Uuid, { ssh, ...secret }: Secret): Promise<void> {
  if (ssh) await secretReferences.note(tx, accountId, sourceOf(secret), []);
}

const sourceOf = ({ id, identifier, orgIdentifier, projectIdentifier }: Omit<Secret, "ssh">): ReferenceSource => ({
  type: "SECRET",
  id,
  identifier,
  orgIdentifier,
  projectIdentifier,
});
