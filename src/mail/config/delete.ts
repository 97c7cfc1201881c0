import type { Actor } from "../../core/actor.ts";
import { deleteConfigRow, lockConfig } from "../store/configs.ts";
import type { ConfigDeps } from "./deps.ts";
import { configEntry, shownConfig } from "./smtp-config.ts";
import { requireConfig, type ConfigWrite } from "./update.ts";

/** Deletes the account's SMTP configuration. Mails that wait fail. Throws `mail.no_config`, `core.stale_version`. */
export const deleteSmtpConfig =
  (deps: Pick<ConfigDeps, "db" | "audit" | "authorize">) =>
  async (actor: Actor, write: ConfigWrite): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_setting_edit", { accountId });
    await deps.db.transaction(async (tx) => {
      const config = requireConfig(accountId, await lockConfig(tx, accountId), write);
      await deleteConfigRow(tx, accountId);
      await deps.audit.record(tx, actor, configEntry("delete", accountId, { before: shownConfig(config) }));
    });
  };

export type DeleteSmtpConfig = ReturnType<typeof deleteSmtpConfig>;
