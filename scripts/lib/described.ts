import { randomUUIDv7 } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { createKeyRing } from "../../src/platform/crypto/key-ring.ts";
import { buildPlatform } from "../../src/app.ts";
import type { Uuid } from "../../src/core/ids.ts";
import type { Route } from "../../src/platform/http/routes.ts";
import { createLog } from "../../src/platform/log/log.ts";

/** What the platform serves, for the files in api/. Nothing is called, so no database is needed. */
export async function describePlatform(): Promise<{
  readonly routes: readonly Route[];
  readonly schema: GraphQLSchema;
}> {
  const none = (): Promise<never> => Promise.reject(new Error("the platform is only described"));
  const platform = await buildPlatform({
    db: { query: none, tuples: none, transaction: none, notify: none, listen: () => () => undefined, close: none },
    keys: createKeyRing(Buffer.alloc(32)),
    clock: { now: () => 0, elapsed: () => 0 },
    newId: () => randomUUIDv7() as Uuid,
    log: createLog("silent"),
    publicUrl: () => "",
    pendingMigrations: none,
    maxSecretFile: 0,
    sessions: { idleMs: 0, mostMs: 0 },
    secretCommands: new Map(),
    oidc: undefined,
    leaving: new AbortController().signal,
    allowPrivateAddresses: [],
    trustedProxies: [],
  });
  await platform.stop();
  return { routes: platform.http.routes(), schema: platform.schema };
}
