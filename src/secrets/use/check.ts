/**
 * Checks the secrets that a pipeline names when it is saved or started. resolve.ts checks them again before a
 * delivery.
 */
import { permits, refusalOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { referred, scopeOf, type Place } from "../../core/reference.ts";
import type { Refusal } from "../../core/refused.ts";
import type { Db } from "../../platform/db/db.ts";
import type { SecretType } from "../secret.ts";
import { findSecretsByKeys } from "../store/secrets.ts";

/** A reference such as `account.x`, and its use: as text, as a file with its content, or as a login. */
export type SecretUse = { readonly reference: string; readonly as: "value" | "file" | "login" };

/**
 * Why a use is impossible. `missing` also covers secrets that the actor may not see; `refused` those visible but not
 * usable.
 */
export type SecretFault = {
  readonly kind: "missing" | "refused";
  readonly message: string;
  /** Present if the actor lacks the permission to use the secret. */
  readonly refusal?: Refusal | undefined;
};

/**
 * Checks uses of secrets from `home` before a run. Returns a fault for each use, undefined if the actor may use the
 * secret. Opens no secret, and looks up all of them by one statement.
 */
export const checkSecretUses =
  ({ db }: { readonly db: Pick<Db, "query"> }) =>
  async (actor: Actor, home: Place, uses: readonly SecretUse[]): Promise<readonly (SecretFault | undefined)[]> => {
    // A script may use one secret thousands of times.
    const references = [...new Set(uses.map(({ reference }) => reference))];
    const refusals = new Map<string, Refusal>();
    const asked = references.flatMap((reference) => {
      const key = referred(reference, home);
      if (!key) return [];
      const scope = scopeOf(actor.accountId, key);
      const refusal = refusalOf(actor, "core_secret_access", scope, key.identifier);
      if (refusal) refusals.set(reference, refusal);
      return !refusal || permits(actor, "core_secret_view", scope, key.identifier) ? [{ reference, key }] : [];
    });
    const keys = asked.map(({ key }) => key);
    const found = await findSecretsByKeys(db, actor.accountId, keys);
    const seen = new Map<string, SecretType>();
    for (const [nth, { reference }] of asked.entries()) {
      const type = found[nth]?.type;
      if (type) seen.set(reference, type);
    }
    return uses.map((use) => faultOf(use, seen.get(use.reference), refusals.get(use.reference)));
  };

/**
 * Checks the uses of secrets before a run, and opens none. Returns a fault or undefined for each use, in their order.
 */
export type CheckSecretUses = ReturnType<typeof checkSecretUses>;

function faultOf(
  { reference, as }: SecretUse,
  seen: SecretType | undefined,
  refusal: Refusal | undefined,
): SecretFault | undefined {
  if (!seen) return { kind: "missing", message: `No secret '${reference}' exists`, refusal };
  if (refusal) {
    const message = `The secret '${reference}' may not be used: core_secret_access is missing`;
    return { kind: "refused", message, refusal };
  }
  const message = typeFault(as, seen);
  return message === undefined ? undefined : { kind: "missing", message: `The secret '${reference}' is ${message}` };
}

/** Says what the secret is if its type does not fit the use; undefined if it fits. */
function typeFault(as: SecretUse["as"], type: SecretType): string | undefined {
  if (as === "login") return type === "SSH_CREDENTIAL" ? undefined : "no SSH credential";
  if (type === "SSH_CREDENTIAL") return "an SSH credential: it can be the connectorRef of a step's executionTarget";
  return as === "value" && type === "ENCRYPTED_FILE" ? "a file: use secrets.getAsFile" : undefined;
}
