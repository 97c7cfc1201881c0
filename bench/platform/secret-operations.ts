/** The operations of secrets on a database, without a server. */
import { randomUUIDv7 } from "node:crypto";
import { authorize, dereference } from "../../src/access/index.ts";
import { createAudit } from "../../src/audit/index.ts";
import type { Actor } from "../../src/core/actor.ts";
import type { Clock } from "../../src/core/clock.ts";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import type { KeyRing } from "../../src/platform/crypto/key-ring.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { createProjects } from "../../src/projects/index.ts";
import { createSecrets } from "../../src/secrets/index.ts";

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

/** Operations on secrets of the account, with contents of up to 1 MiB. */
export function createSecretOperations(db: Db, keys: KeyRing): ReturnType<typeof createSecrets> {
  const newId = (): Uuid => randomUUIDv7() as Uuid;
  const base = {
    authorize,
    dereference: dereference({ invalidateGrants: () => undefined }),
    db,
    clock: systemClock,
    newId,
    audit: createAudit({ clock: systemClock, newId }),
  };
  const { requireScope, applicationsExist } = createProjects({ ...base, emptyScope: async () => [] });
  const facts = {
    applications: applicationsExist,
    environments: async () => ({ permitted: new Map<never, never>(), refused: new Map<never, never>() }),
    usable: async () => ({ permitted: new Set<never>(), refused: new Map<never, never>() }),
  };
  const revalidateActor = async (actor: Actor): Promise<Actor> => actor;
  return createSecrets({
    ...base,
    requireScope,
    revalidateActor,
    keys,
    commands: new Map(),
    maxContent: 1024 * 1024,
    facts,
  });
}

/** An actor with all permissions in the account. */
export const systemActorOf = (accountId: string): Actor => ({ kind: "system", accountId: fromWire(accountId) as Uuid });
