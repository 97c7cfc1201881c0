import type { Actor } from "../../core/actor.ts";
import { findConfig } from "../store/configs.ts";
import type { ConfigDeps } from "./deps.ts";
import type { SmtpConfig } from "./smtp-config.ts";

/** Returns the account's SMTP configuration; undefined if it has none. */
export const getSmtpConfig =
  (deps: Pick<ConfigDeps, "db" | "authorize">) =>
  async (actor: Actor): Promise<SmtpConfig | undefined> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_setting_view", { accountId });
    return findConfig(deps.db, accountId);
  };

export type GetSmtpConfig = ReturnType<typeof getSmtpConfig>;
