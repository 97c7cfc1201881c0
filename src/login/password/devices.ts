/** Browsers where a person has signed in before. A sealed cookie identifies them, so the server stores nothing. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Uuid } from "../../core/ids.ts";
import type { KeyRing } from "../../platform/crypto/key-ring.ts";
import { createSealer } from "../../platform/crypto/seal.ts";
import type { Cookies } from "../session/cookies.ts";

const YEAR_SECONDS = 365 * 24 * 3_600;

export type Devices = {
  /** The browser's random name for this person. Undefined for an unknown browser or person. */
  readonly of: (headers: IncomingHttpHeaders, accountId: Uuid, userId: Uuid | undefined) => string | undefined;
  /** The cookie that makes the browser known for this person. */
  readonly remember: (accountId: Uuid, userId: Uuid) => string;
};

type Deps = { readonly keys: KeyRing; readonly cookies: Cookies };

export function createDevices({ keys, cookies }: Deps): Devices {
  const sealer = createSealer(keys, "known browsers");
  return {
    of: (headers, accountId, userId) => {
      const sealed = cookies.read(headers, "device");
      if (sealed === undefined || userId === undefined || sealed.length > 512) return undefined;
      try {
        return sealer.open(Buffer.from(sealed, "base64url"), identityOf(accountId, userId));
      } catch {
        return undefined;
      }
    },
    remember: (accountId, userId) => {
      const name = randomBytes(16).toString("base64url");
      // Nothing is stored, so the sealed name does not change when the account changes its root key.
      const sealed = sealer.seal(name, identityOf(accountId, userId), keys.preferred.id);
      return cookies.write("device", sealed.toString("base64url"), { seconds: YEAR_SECONDS });
    },
  };
}

const identityOf = (accountId: Uuid, userId: Uuid): string => `device:${accountId}:${userId}`;
