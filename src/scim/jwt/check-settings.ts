import type { Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Key } from "./keys.ts";
import type { JwtDeps } from "./authenticate.ts";
import { JWT_SETTINGS, requireMatch, settingsOf, type JwtSettings } from "./settings.ts";

type Deps = Omit<JwtDeps, "onRefusal"> & { readonly authorize: Authorize };

export type CheckedSettings = {
  /** The settings without a value. Without one of them, no token is accepted. */
  readonly missing: readonly string[];
  /** Undefined without a URL. `failure` is why the set could not be fetched last; older keys may still count. */
  readonly keySet:
    | { readonly url: string; readonly failure: string | undefined; readonly keys: readonly Key[] }
    | undefined;
  /** Undefined without an identifier. */
  readonly serviceAccount: { readonly identifier: string; readonly isFound: boolean } | undefined;
  /** Why the token is refused, as a sentence about it; null if it is accepted, undefined without a token. */
  readonly refusal: string | null | undefined;
};

/**
 * Checks the settings for signed tokens: fetches the key set, within the limits of tokens, and tells whether a token
 * would be accepted. The token is neither stored nor logged. Throws `access.not_permitted`.
 */
export const checkJwtSettings =
  (deps: Deps) =>
  async (actor: Actor, token: string | undefined): Promise<CheckedSettings> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_authsetting_edit", { accountId });
    const values = await deps.settings(accountId, JWT_SETTINGS);
    const missing = JWT_SETTINGS.filter((_name, nth) => (values[nth] ?? "") === "");
    const settings = settingsOf(values);
    const { url, identifier } = settings;
    const keys = url === "" ? [] : await deps.keys.keysOf(url, true);
    const isFound = identifier !== "" && (await deps.serviceAccount(accountId, identifier)) !== undefined;
    return {
      missing,
      keySet: url === "" ? undefined : { url, keys, failure: deps.keys.failureOf(url) },
      serviceAccount: identifier === "" ? undefined : { identifier, isFound },
      refusal: token === undefined ? undefined : await refusalOf(deps, token, { settings, missing, isFound }),
    };
  };

export type CheckJwtSettings = ReturnType<typeof checkJwtSettings>;

type Checked = { readonly settings: JwtSettings; readonly missing: readonly string[]; readonly isFound: boolean };

async function refusalOf(deps: Deps, token: string, { settings, missing, isFound }: Checked): Promise<string | null> {
  if (missing.length > 0) return `The settings are not complete: ${missing.join(", ")}.`;
  if (!isFound) return `The account has no service account [${settings.identifier}].`;
  try {
    await requireMatch(token, settings, { keys: deps.keys, now: deps.clock.now() });
    return null;
  } catch (error) {
    return `The token is refused: ${error instanceof Error ? error.message : "it cannot be read"}.`;
  }
}
