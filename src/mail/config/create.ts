import type { Actor } from "../../core/actor.ts";
import { problem } from "../problems.ts";
import { findConfig, insertConfig } from "../store/configs.ts";
import type { ConfigDeps } from "./deps.ts";
import { configEntry, sealIdentity, shownConfig, type NewSmtpConfig, type SmtpConfig } from "./smtp-config.ts";

/** Creates the account's SMTP configuration. Throws `mail.config_exists`, `mail.password_needed`. */
export const createSmtpConfig =
  (deps: ConfigDeps) =>
  async (actor: Actor, { password, ...input }: NewSmtpConfig): Promise<SmtpConfig> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_setting_edit", { accountId });
    if (input.username !== null && password === null) throw problem("mail.password_needed");
    const at = deps.clock.now();
    const config: SmtpConfig = { ...input, version: 1, createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      const keyId = await deps.holdRootKey(tx, accountId);
      const passwordSealed = password === null ? null : deps.sealer.seal(password, sealIdentity(accountId), keyId);
      if (!(await insertConfig(tx, accountId, { ...config, passwordSealed }))) {
        const existing = await findConfig(tx, accountId);
        throw problem("mail.config_exists", [existing?.name ?? ""]);
      }
      await deps.audit.record(tx, actor, configEntry("create", accountId, { after: shownConfig(config) }));
    });
    return config;
  };

export type CreateSmtpConfig = ReturnType<typeof createSmtpConfig>;
