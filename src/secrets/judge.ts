import type { Permits } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import type { Db } from "../platform/db/db.ts";
import type { SecretType } from "./secret.ts";
import { findSecret } from "./store/secrets.ts";

/** A secret by its reference, as `account.x`, and how it is wanted: its text, a file with its content, or to log in with. */
export type SecretUse = { readonly reference: string; readonly as: "value" | "file" | "login" };

/** Why a use cannot be: `missing`, the same for what may not be seen; `refused`, for what may be seen and not used. */
export type SecretFault = { readonly kind: "missing" | "refused"; readonly message: string };

/**
 * What can be said against uses of secrets in a thing that lives at `home`, before it runs: an answer for each, undefined
 * where the actor may use the secret. Nothing is opened.
 */
export type JudgeSecrets = (
  actor: Actor,
  home: Place,
  uses: readonly SecretUse[],
) => Promise<readonly (SecretFault | undefined)[]>;

export const makeJudgeSecrets =
  ({ db, permits }: { readonly db: Db; readonly permits: Permits }): JudgeSecrets =>
  (actor, home, uses) =>
    Promise.all(
      uses.map(async ({ reference, as }): Promise<SecretFault | undefined> => {
        const key = referred(reference, home);
        const scope = key && scopeOf(actor.accountId, key);
        const may = (permission: "core_secret_view" | "core_secret_access"): boolean =>
          scope !== undefined && permits(actor, permission, scope, key?.identifier);
        const isSeen = may("core_secret_view") || may("core_secret_access");
        const secret = key && isSeen ? await findSecret(db, actor.accountId, key) : undefined;
        if (!secret) return { kind: "missing", message: `No secret '${reference}' exists` };
        if (!may("core_secret_access"))
          return {
            kind: "refused",
            message: `The secret '${reference}' may not be used: core_secret_access is missing`,
          };
        const message = misused(as, secret.type);
        return message === undefined
          ? undefined
          : { kind: "missing", message: `The secret '${reference}' is ${message}` };
      }),
    );

/** What a secret is that cannot be used like that, and what to do; undefined when it can. */
function misused(as: SecretUse["as"], type: SecretType): string | undefined {
  if (as === "login") return type === "SSH_CREDENTIAL" ? undefined : "no SSH credential";
  if (type === "SSH_CREDENTIAL") return "an SSH credential: it can be the connectorRef of a step's executionTarget";
  return as === "value" && type === "ENCRYPTED_FILE" ? "a file: use secrets.getAsFile" : undefined;
}
