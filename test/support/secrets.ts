/**
 * The operations of secrets on a database, without a server; with contents of up to 1 MiB. No response contains a
 * value, so that only these can read stored values.
 */
import { randomUUIDv7 } from "node:crypto";
import { authorize, dereference } from "../../src/access/index.ts";
import { createAudit } from "../../src/audit/index.ts";
import type { Actor } from "../../src/core/actor.ts";
import type { Clock } from "../../src/core/clock.ts";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import { createProjects } from "../../src/projects/index.ts";
import { createSecrets, type SecretsDeps } from "../../src/secrets/index.ts";
import { adminGrants } from "./access.ts";
import type { TestPlatform } from "./platform.ts";

type Environments = Awaited<ReturnType<SecretsDeps["facts"]["environments"]>>["permitted"];

/** What the actor may see or use of that which a usage scope names; nothing is refused. */
export const allPermitted = <T>(permitted: T) => ({ permitted, refused: new Map<never, never>() });

export function secretsOf(
  platform: Pick<TestPlatform, "db" | "keys"> & { readonly clock: Clock },
  more: Partial<SecretsDeps> = {},
  /** Existing environments. */
  environments: Environments = new Map(),
): ReturnType<typeof createSecrets> {
  const { db, clock, keys } = platform;
  const newId = (): Uuid => randomUUIDv7() as Uuid;
  const base = {
    authorize,
    dereference: dereference({ invalidateGrants: () => undefined }),
    db,
    clock,
    newId,
    audit: createAudit({ clock, newId }),
  };
  const { requireScope, applicationsExist } = createProjects({ ...base, emptyScope: async () => [] });
  const usable = async () => allPermitted(new Set<Uuid>());
  const facts = { applications: applicationsExist, environments: async () => allPermitted(environments), usable };
  const revalidateActor = async (actor: Actor): Promise<Actor> => actor;
  return createSecrets({
    ...base,
    requireScope,
    revalidateActor,
    keys,
    commands: new Map(),
    maxContent: 1024 * 1024,
    facts,
    ...more,
  });
}

export const adminOf = ({ accountId }: Pick<TestPlatform, "accountId">): Actor => {
  const id = fromWire(accountId) as Uuid;
  return { kind: "user", accountId: id, id, name: "admin", email: "admin@example.com", grants: adminGrants };
};

/** Returns every row of every table as text. */
export async function dumpOf({ db }: Pick<TestPlatform, "db">): Promise<string> {
  const tables = await db.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by 1",
  );
  const rows = await Promise.all(
    tables.map(({ name }) => db.query<{ row: string }>(`select t::text as row from ${name} t order by 1`)),
  );
  return rows.flatMap((each, nth) => each.map(({ row }) => `${tables[nth]?.name} ${row}`)).join("\n");
}
