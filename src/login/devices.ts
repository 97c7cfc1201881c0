/** A browser that somebody has signed in with before: known by a sealed cookie, so that nothing has to be kept of it. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Uuid } from "../core/ids.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import type { Cookies } from "./cookies.ts";

const YEAR_SECONDS = 365 * 24 * 3_600;

export type Devices = {
  /** What the browser is called for this person; undefined for a browser or a person that is not known. */
  readonly of: (headers: IncomingHttpHeaders, accountId: Uuid, userId: Uuid | undefined) => string | undefined;
  /** The cookie that makes it known. */
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
      // Nothing of it is stored: it need not follow the account to another root key.
      const sealed = sealer.seal(name, identityOf(accountId, userId), keys.preferred.id);
      return cookies.write("device", sealed.toString("base64url"), { seconds: YEAR_SECONDS });
    },
  };
}

const identityOf = (accountId: Uuid, userId: Uuid): string => `device:${accountId}:${userId}`;
