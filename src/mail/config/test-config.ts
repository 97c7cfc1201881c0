import type { Actor } from "../../core/actor.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";
import { problem } from "../problems.ts";
import { deliver } from "../smtp/deliver.ts";
import type { SmtpServer } from "../smtp/smtp-server.ts";
import { findConfig } from "../store/configs.ts";
import type { ConfigDeps } from "./deps.ts";
import { openServer } from "./open-server.ts";
import { configEntry, senderOf, shownConfig, type SmtpConfig } from "./smtp-config.ts";
import { requireConfig } from "./update.ts";

/** The caller gets an answer within this time. */
const TIMEOUT_MS = 25_000;

export type TestMail = { readonly to: readonly string[]; readonly subject: string; readonly body: string };

/** `fault`: why the mail server did not accept the mail; null if it did. */
export type ConfigTest = { readonly fault: string | null };

type Deps = Pick<ConfigDeps, "db" | "audit" | "clock" | "authorize" | "sealer"> & {
  readonly newId: NewId;
  readonly mayReach: MayReach;
};

/** Sends a mail with the account's SMTP configuration at once. Throws `mail.no_config`. */
export const testSmtpConfig =
  (deps: Deps) =>
  async (actor: Actor, id: Uuid | null, mail: TestMail): Promise<ConfigTest> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_setting_edit", { accountId });
    const config = requireConfig(accountId, await findConfig(deps.db, accountId), { id, version: undefined });
    const server = openServer(deps.sealer, accountId, config);
    const fault = "fault" in server ? server.fault : await sendTest(deps, server, { config, mail });
    await deps.db.transaction((tx) =>
      deps.audit.record(
        tx,
        actor,
        configEntry("test", accountId, { after: { ...shownConfig(config), to: mail.to.join(", "), fault } }),
      ),
    );
    return { fault };
  };

export type TestSmtpConfig = ReturnType<typeof testSmtpConfig>;

async function sendTest(
  { mayReach, newId, clock }: Deps,
  server: SmtpServer,
  { config, mail: { to, subject, body } }: { readonly config: SmtpConfig; readonly mail: TestMail },
): Promise<string | null> {
  const from = senderOf(config);
  if (from === undefined) throw problem("mail.bad_address", [config.fromAddress ?? config.username ?? ""]);
  const recipients = { to: { addresses: to, groups: [] }, cc: { addresses: [], groups: [] } };
  const delivery = await deliver(
    server,
    { id: toWire(newId()), at: clock.now(), from, ...recipients, subject, body },
    { mayReach, signal: AbortSignal.timeout(TIMEOUT_MS), beforeData: async () => {} },
  );
  return delivery.kind === "sent" ? null : delivery.message;
}
