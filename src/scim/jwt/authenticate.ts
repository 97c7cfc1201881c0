/** JSON web tokens as credentials for SCIM, with the four settings of the account. */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { CurrentSettings } from "../../settings/index.ts";
import type { KeySource } from "./keys.ts";
import { JWT_SETTINGS, requireMatch, settingsOf } from "./settings.ts";
import { isCompact } from "./verify.ts";

export type JwtDeps = {
  readonly clock: Clock;
  readonly settings: CurrentSettings;
  readonly keys: KeySource;
  /** The account's service account with this identifier, with its grants. */
  readonly serviceAccount: (accountId: Uuid, identifier: string) => Promise<Actor | undefined>;
  /** Logs why a token was refused; the caller does not learn it. */
  readonly onRefusal: (reason: string) => void;
};

/** The actor of a token in the account; undefined if a setting is missing or the token does not match the settings. */
export const createJwtAuthenticate =
  (deps: JwtDeps) =>
  async (token: string, account: string): Promise<Actor | undefined> => {
    const accountId = fromWire(account);
    if (!accountId || !isCompact(token)) return undefined;
    const settings = settingsOf(await deps.settings(accountId, JWT_SETTINGS));
    if (Object.values(settings).includes("")) return undefined;
    try {
      await requireMatch(token, settings, { keys: deps.keys, now: deps.clock.now() });
    } catch (error) {
      deps.onRefusal(error instanceof Error ? error.message : "it cannot be read");
      return undefined;
    }
    return deps.serviceAccount(accountId, settings.identifier);
  };
