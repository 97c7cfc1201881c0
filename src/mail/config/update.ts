import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import { problem } from "../problems.ts";
import { lockConfig, updateConfigRow } from "../store/configs.ts";
import type { ConfigDeps } from "./deps.ts";
import {
  configEntry,
  sealIdentity,
  shownConfig,
  type NewSmtpConfig,
  type SmtpConfig,
  type StoredSmtpConfig,
} from "./smtp-config.ts";

/** `id`: null for the account's configuration without regard to its id. `version`: undefined for any. */
export type ConfigWrite = { readonly id: Uuid | null; readonly version: number | undefined };

/**
 * Replaces the account's SMTP configuration; without a password the stored one stays. Throws `mail.no_config`,
 * `mail.password_needed`, `core.stale_version`.
 */
export const updateSmtpConfig =
  (deps: ConfigDeps) =>
  async (actor: Actor, { password, ...input }: NewSmtpConfig, write: ConfigWrite): Promise<SmtpConfig> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_setting_edit", { accountId });
    return deps.db.transaction(async (tx) => {
      // The key is locked before the row, as by a rotation.
      const keyId = await deps.holdRootKey(tx, accountId);
      const { passwordSealed: former, ...before } = requireConfig(accountId, await lockConfig(tx, accountId), write);
      if (input.username !== null && password === null && (former === null || !isSameServer(before, input)))
        throw problem("mail.password_needed");
      const version = before.version + 1;
      const config: SmtpConfig = { ...before, ...input, version, updatedAt: deps.clock.now() };
      const given = password === null ? former : deps.sealer.seal(password, sealIdentity(accountId), keyId);
      await updateConfigRow(tx, accountId, { ...config, passwordSealed: config.username === null ? null : given });
      await deps.audit.record(
        tx,
        actor,
        configEntry("update", accountId, {
          before: shownConfig(before),
          after: { ...shownConfig(config), ...(password === null ? {} : { password: "changed" as const }) },
        }),
      );
      return config;
    });
  };

export type UpdateSmtpConfig = ReturnType<typeof updateSmtpConfig>;

/** Throws `mail.no_config`, `core.stale_version`. */
export function requireConfig(
  accountId: Uuid,
  config: StoredSmtpConfig | undefined,
  { id, version }: ConfigWrite,
): StoredSmtpConfig {
  if (!config || (id !== null && id !== accountId)) throw problem("mail.no_config", [toWire(id ?? accountId)]);
  if (version !== undefined && version !== config.version)
    throw commonProblem("core.stale_version", [
      "SMTP configuration",
      config.name,
      String(config.version),
      String(version),
    ]);
  return config;
}

/** Whether the stored password may be used. A user who may change settings could learn it from a server of their own. */
const isSameServer = (one: SmtpConfig, other: Omit<NewSmtpConfig, "password">): boolean =>
  one.host === other.host &&
  one.port === other.port &&
  one.security === other.security &&
  one.username === other.username;
