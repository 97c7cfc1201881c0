import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Lifetimes } from "../login/index.ts";
import type { CheckScripts } from "../pipelines/index.ts";
import type { OidcConfig } from "../platform/config/oidc.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import type { Db } from "../platform/db/db.ts";
import type { Log } from "../platform/log/log.ts";
import type { SecretsDeps } from "../secrets/index.ts";

/** What the server is built from: infrastructure and configuration. */
export type PlatformDeps = {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** The address at which callers reach the server; known once it listens. */
  readonly publicUrl: () => string;
  /** Names of the migrations that are not applied yet; for readiness. */
  readonly pendingMigrations: () => Promise<readonly string[]>;
  /** Undefined without single sign-on. */
  readonly oidc: OidcConfig | undefined;
  /** Lifetimes of login sessions. */
  readonly sessions: Lifetimes;
  /** Largest secret file in bytes. */
  readonly maxSecretFile: number;
  readonly secretCommands: SecretsDeps["commands"];
  /** Checks whether scripts parse; by default with the server's own Bash. */
  readonly checkScripts?: CheckScripts | undefined;
  /** Aborted when the server is asked to stop: readiness fails at once, while requests are still served. */
  readonly leaving: AbortSignal;
  /** Private addresses that the server itself may connect to (`parseAllowedTarget`). */
  readonly allowPrivateAddresses: readonly string[];
  /** Networks of the proxies in front of the server (`parseNetwork`). */
  readonly trustedProxies: readonly string[];
  /** The folder of the built web interface, when it is built. Undefined: the server has none. */
  readonly webFolder: Promise<string> | undefined;
};

/** What all parts of the composition share. `onError` gets the errors of work in the background. */
export type CommonDeps = PlatformDeps & {
  readonly audit: Audit;
  readonly onError: (error: unknown) => void;
};
