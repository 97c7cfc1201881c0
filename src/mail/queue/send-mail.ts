/** One try to send a queued mail, and what follows from it. */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire } from "../../core/ids.ts";
import type { Sealer } from "../../platform/crypto/seal.ts";
import type { Db } from "../../platform/db/db.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";
import { openServer } from "../config/open-server.ts";
import { senderOf } from "../config/smtp-config.ts";
import { MAX_RECIPIENTS } from "../limits.ts";
import { deliver } from "../smtp/deliver.ts";
import { UNKNOWN, type Delivery } from "../smtp/delivery.ts";
import { envelopeRecipients, type Message } from "../smtp/message.ts";
import type { SmtpServer } from "../smtp/smtp-server.ts";
import { findConfig } from "../store/configs.ts";
import { deleteClaimedMail, markDelivering, releaseMail, type ClaimedMail } from "../store/outgoing.ts";
import type { MailOutcome, OnMailEnded } from "./mail.ts";
import { resolveRecipients, type FindGroupAddresses } from "./recipients.ts";
import { retryDelayMs } from "./retry.ts";

export type SendDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly sealer: Sealer;
  readonly findGroupAddresses: FindGroupAddresses;
  readonly mayReach: MayReach;
  readonly onMailEnded: OnMailEnded;
};

/** The longest a try takes. It is shorter than a claim, so that no other replica tries at the same time. */
export const TRY_MS = 120_000;

/** The mail was cancelled, or another replica has claimed it, before the message was sent. */
class NotMine extends Error {}

/** Sends a claimed mail, or ends one whose replica has died. `stopping` ends the try if nothing was sent yet. */
export const sendMail =
  (deps: SendDeps) =>
  async (mail: ClaimedMail, stopping: AbortSignal): Promise<void> => {
    if (mail.delivering) return endMail(deps, mail, { kind: "unknown", message: UNKNOWN });
    if (mail.deadlineAt <= deps.clock.now()) return endMail(deps, mail, overdue(mail));
    const prepared = await prepare(deps, mail);
    if ("fault" in prepared) return endMail(deps, mail, { kind: "failed", message: prepared.fault });
    let delivery: Delivery;
    try {
      delivery = await tryToDeliver(deps, mail, { ...prepared, stopping });
    } catch (error) {
      if (error instanceof NotMine) return;
      throw error;
    }
    if (delivery.kind !== "delayed") return endMail(deps, mail, outcomeOf(delivery, prepared.message));
    const { accountId, id, claimId } = mail;
    const now = deps.clock.now();
    // The try says nothing about the mail server if this replica has ended it.
    if (stopping.aborted) return releaseMail(deps.db, accountId, { id, claimId, at: now, error: null });
    const at = now + retryDelayMs(mail.tries);
    const failed = { ...mail, lastError: delivery.message };
    if (at >= mail.deadlineAt) return endMail(deps, mail, overdue(failed));
    await releaseMail(deps.db, accountId, { id, claimId, at, error: delivery.message });
  };

type Prepared = { readonly server: SmtpServer; readonly message: Message };

async function prepare(deps: SendDeps, mail: ClaimedMail): Promise<Prepared | { readonly fault: string }> {
  if (mail.fault !== null) return { fault: mail.fault };
  const config = await findConfig(deps.db, mail.accountId);
  const from = config && senderOf(config);
  if (!config || from === undefined)
    return { fault: "The account has no SMTP configuration (POST /ng/api/smtpConfig)." };
  const server = openServer(deps.sealer, mail.accountId, config);
  if ("fault" in server) return server;
  const recipients = await resolveRecipients(deps.findGroupAddresses, mail);
  if ("fault" in recipients) return recipients;
  const { subject, body } = mail;
  const message = { id: toWire(mail.id), at: mail.createdAt, from, ...recipients, subject, body };
  const count = envelopeRecipients(message).length;
  if (count > MAX_RECIPIENTS)
    return { fault: `The mail has more than ${MAX_RECIPIENTS} recipients with the members of its user groups.` };
  return count === 0 ? { fault: "The user groups of the mail have no members." } : { server, message };
}

async function tryToDeliver(
  { db, mayReach }: SendDeps,
  mail: ClaimedMail,
  { server, message, stopping }: Prepared & { readonly stopping: AbortSignal },
): Promise<Delivery> {
  // Given back without a message about the mail server.
  if (stopping.aborted) return { kind: "delayed", message: "" };
  const beforeData = new AbortController();
  const stop = (): void => beforeData.abort(stopping.reason);
  stopping.addEventListener("abort", stop);
  try {
    return await deliver(server, message, {
      mayReach,
      signal: AbortSignal.any([AbortSignal.timeout(TRY_MS), beforeData.signal]),
      beforeData: async () => {
        if (!(await markDelivering(db, mail.accountId, mail))) throw new NotMine();
        stopping.removeEventListener("abort", stop);
      },
    });
  } finally {
    stopping.removeEventListener("abort", stop);
  }
}

const overdue = ({ lastError }: Pick<ClaimedMail, "lastError">): MailOutcome => ({
  kind: "failed",
  message: `The mail was not sent in time. ${lastError ?? "No server has tried it."}`,
});

function outcomeOf(delivery: Exclude<Delivery, { kind: "delayed" }>, message: Message): MailOutcome {
  switch (delivery.kind) {
    case "sent":
      return { kind: "sent", recipients: envelopeRecipients(message).length };
    case "refused":
      return { kind: "failed", message: delivery.message };
    case "unknown":
      return delivery;
  }
}

/** Removes the mail from the queue and reports its end, in one transaction. */
async function endMail({ db, audit, onMailEnded }: SendDeps, mail: ClaimedMail, outcome: MailOutcome): Promise<void> {
  const { accountId, executionId, nodeId, orgIdentifier, projectIdentifier } = mail;
  if (!mail.fireAndForget)
    return onMailEnded({ accountId, executionId, nodeId }, outcome, (tx) => deleteClaimedMail(tx, accountId, mail));
  await db.transaction(async (tx) => {
    if (!(await deleteClaimedMail(tx, accountId, mail)) || outcome.kind === "sent") return;
    await audit.record(
      tx,
      { kind: "system", accountId },
      {
        operation: "mail.fail",
        resourceType: "PIPELINE_EXECUTION",
        resourceId: toWire(executionId),
        scope: { orgIdentifier, projectIdentifier },
        after: { node: toWire(nodeId), subject: mail.subject, outcome: outcome.kind, message: outcome.message },
      },
    );
  });
}
