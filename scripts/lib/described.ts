import { randomUUIDv7 } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { createKeyRing } from "../../src/platform/crypto/key-ring.ts";
import { buildPlatform } from "../../src/app.ts";
import type { Uuid } from "../../src/core/ids.ts";
import type { Route } from "../../src/platform/http/routes.ts";
import { createLog } from "../../src/platform/log/log.ts";

/** The routes and the GraphQL schema of the platform, for the files in api/. It needs no database. */
export async function describePlatform(): Promise<{
  readonly routes: readonly Route[];
  readonly schema: GraphQLSchema;
}> {
  const reject = (): Promise<never> => Promise.reject(new Error("the platform has no database here"));
  const platform = await buildPlatform({
    db: {
      query: reject,
      tuples: reject,
      binary: reject,
      transaction: reject,
      notify: reject,
      listen: () => () => undefined,
      close: reject,
    },
    keys: createKeyRing(Buffer.alloc(32)),
    clock: { now: () => 0, elapsed: () => 0 },
    newId: () => randomUUIDv7() as Uuid,
    log: createLog("silent"),
    publicUrl: () => "",
    pendingMigrations: reject,
    maxSecretFile: 0,
    sessions: { idleMs: 0, mostMs: 0 },
    secretCommands: new Map(),
    oidc: undefined,
    leaving: new AbortController().signal,
    allowPrivateAddresses: [],
    trustedProxies: [],
    webFolder: undefined,
  });
  await platform.stop();
  return { routes: platform.http.routes(), schema: platform.schema };
}
