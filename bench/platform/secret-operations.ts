/** The operations of secrets on a database, without a server. */
import type { Actor } from "../../src/core/actor.ts";
import type { Clock } from "../../src/core/clock.ts";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import type { KeyRing } from "../../src/platform/crypto/key-ring.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { secretsOf } from "../../test/support/secrets.ts";

type Db = ReturnType<typeof openDb>;

const ignore = (): void => undefined;

/** Opens a database without a log. */
export const openWithoutLog = (connection: string, max?: number): Db =>
  openDb({
    connection,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    onError: ignore,
    ...(max === undefined ? {} : { max }),
  });

const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** Operations on secrets of the account. */
export const createSecretOperations = (db: Db, keys: KeyRing): ReturnType<typeof secretsOf> =>
  secretsOf({ db, keys, clock: systemClock });

/** An actor with all permissions in the account. */
export const systemActorOf = (accountId: string): Actor => ({ kind: "system", accountId: fromWire(accountId) as Uuid });
