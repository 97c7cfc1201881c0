/** The verbs of secrets on a database, without a server around them: what a benchmark measures of them alone. */
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

const nothing = (): void => undefined;

/** A database whose messages nobody reads. */
export const openQuietly = (connection: string, max?: number): Db =>
  openDb({
    connection,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    onError: nothing,
    ...(max === undefined ? {} : { max }),
  });

const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** Texts and files of up to 1 MiB, in the account. */
export function secretVerbs(db: Db, keys: KeyRing): ReturnType<typeof createSecrets> {
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

/** Who may do everything in the account of a server. */
export const systemOf = (accountId: string): Actor => ({ kind: "system", accountId: fromWire(accountId) as Uuid });
