/** Mails: the account's mail server, and the queue of the mails that steps send. */
import { createSmtpConfig } from "./config/create.ts";
import { deleteSmtpConfig } from "./config/delete.ts";
import type { ConfigDeps } from "./config/deps.ts";
import { getSmtpConfig } from "./config/get.ts";
import { createSealedPasswords } from "./config/sealed-passwords.ts";
import { testSmtpConfig } from "./config/test-config.ts";
import { updateSmtpConfig } from "./config/update.ts";
import { cancelMail, enqueueMail } from "./queue/enqueue.ts";
import { createSender } from "./queue/sender.ts";
import { sendMail, type SendDeps } from "./queue/send-mail.ts";
import { mailRoutes } from "./rest.ts";
import type { Uuid } from "../core/ids.ts";
import { deleteAwaitedMails, deleteMailsOf, findDelayedMails } from "./store/outgoing.ts";

export type { OnMailEnded } from "./queue/mail.ts";
export { createSealedPasswords } from "./config/sealed-passwords.ts";

export type MailDeps = ConfigDeps & SendDeps & { readonly onError: (error: unknown) => void };

/** The slice. `enqueue`, `cancel`, `cancelAll` and `findDelayed` serve the executions and check no permission. */
export function createMail(deps: MailDeps) {
  const sender = createSender({ ...deps, send: sendMail(deps) });
  const operations = {
    create: createSmtpConfig(deps),
    update: updateSmtpConfig(deps),
    delete: deleteSmtpConfig(deps),
    get: getSmtpConfig(deps),
    test: testSmtpConfig(deps),
  };
  return {
    routes: mailRoutes(operations),
    sealed: createSealedPasswords(deps),
    enqueue: enqueueMail({ ...deps, wake: sender.wake }),
    cancel: cancelMail,
    cancelAll: deleteAwaitedMails,
    findDelayed: (accountId: Uuid, executionId: Uuid) => findDelayedMails(deps.db, accountId, executionId),
    sendDue: sender.sendDue,
    idle: sender.idle,
    stop: sender.stop,
    emptyScope: deleteMailsOf,
  };
}

export type Mail = ReturnType<typeof createMail>;
