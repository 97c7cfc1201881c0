import type { Uuid } from "../../core/ids.ts";
import { deleteFromScope } from "../../platform/db/removed-rows.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { DeletedScope, RemovedReference } from "../../platform/removed-reference.ts";
import type { MailRef, NewMail } from "../queue/mail.ts";

/** A mail in the queue. */
export type QueuedMail = NewMail & {
  readonly id: Uuid;
  readonly fault: string | null;
  readonly createdAt: number;
  readonly tries: number;
  readonly lastError: string | null;
};

/** A mail that this replica tries to send, or whose try has been given up by another one. */
export type ClaimedMail = QueuedMail & {
  readonly claimId: Uuid;
  /** A former try had begun to send the message, and its replica has not reported the end. */
  readonly delivering: boolean;
};

const MAIL = `account_id as "accountId", id, execution_id as "executionId", node_id as "nodeId",
  org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", to_addresses as "to",
  cc_addresses as "cc", to_groups as "toUserGroups", cc_groups as "ccUserGroups", subject, body,
  fire_and_forget as "fireAndForget", fault, created_at as "createdAt", deadline_at as "deadlineAt", tries,
  last_error as "lastError", delivering`;

export async function insertMail(
  tx: Tx,
  accountId: Uuid,
  mail: Omit<QueuedMail, "tries" | "lastError">,
): Promise<void> {
  await tx.query(
    `insert into outgoing_mails (account_id, id, execution_id, node_id, org_identifier, project_identifier,
                                 to_addresses, cc_addresses, to_groups, cc_groups, subject, body, fire_and_forget, fault,
                                 created_at, deadline_at, next_try_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $15)`,
    [
      accountId,
      mail.id,
      mail.executionId,
      mail.nodeId,
      mail.orgIdentifier,
      mail.projectIdentifier,
      mail.to,
      mail.cc,
      mail.toUserGroups,
      mail.ccUserGroups,
      mail.subject,
      mail.body,
      mail.fireAndForget,
      mail.fault,
      mail.createdAt,
      mail.deadlineAt,
    ],
  );
}

type Claim = {
  readonly now: number;
  readonly until: number;
  readonly claimId: Uuid;
  /** Accounts with as many tries in this process as are allowed. */
  readonly except: readonly Uuid[];
};

/**
 * Claims one mail whose next try is due, or whose replica has died. Two replicas never get the same one. A mail that
 * was being delivered keeps its mark.
 */
export async function claimMail(db: Store, { now, until, claimId, except }: Claim): Promise<ClaimedMail | undefined> {
  const rows = await db.query<Omit<ClaimedMail, "claimId">>(
    `update outgoing_mails set claim_id = $3, claimed_until = $2, tries = tries + case when delivering then 0 else 1 end
      where (account_id, id) = (
        select account_id, id from outgoing_mails
         where coalesce(claimed_until, next_try_at) <= $1 and account_id <> all ($4::uuid[])
         order by coalesce(claimed_until, next_try_at) limit 1 for update skip locked)
     returning ${MAIL}`,
    [now, until, claimId, except],
  );
  return rows[0] && { ...rows[0], claimId };
}

type ClaimKey = Pick<ClaimedMail, "id" | "claimId">;

/** Marks that the message is going to be sent. Returns false if the mail was cancelled or claimed again meanwhile. */
export async function markDelivering(db: Store, accountId: Uuid, { id, claimId }: ClaimKey): Promise<boolean> {
  const rows = await db.query(
    `update outgoing_mails set delivering = true where account_id = $1 and id = $2 and claim_id = $3 returning id`,
    [accountId, id, claimId],
  );
  return rows.length > 0;
}

/** Gives the mail back for another try at this time. */
export async function releaseMail(
  db: Store,
  accountId: Uuid,
  { id, claimId, at, error }: ClaimKey & { readonly at: number; readonly error: string | null },
): Promise<void> {
  await db.query(
    `update outgoing_mails set claim_id = null, claimed_until = null, delivering = false, next_try_at = $4,
            last_error = coalesce($5, last_error)
      where account_id = $1 and id = $2 and claim_id = $3`,
    [accountId, id, claimId, at, error],
  );
}

/** Removes a mail that has ended. Returns false if it was cancelled or claimed again meanwhile. */
export async function deleteClaimedMail(tx: Tx, accountId: Uuid, { id, claimId }: ClaimKey): Promise<boolean> {
  const rows = await tx.query(
    `delete from outgoing_mails where account_id = $1 and id = $2 and claim_id = $3 returning id`,
    [accountId, id, claimId],
  );
  return rows.length > 0;
}

/** Removes the mail that a step waits for. Undefined if it has ended. */
export async function deleteMail(
  tx: Tx,
  accountId: Uuid,
  { executionId, nodeId }: MailRef,
): Promise<{ readonly delivering: boolean } | undefined> {
  const rows = await tx.query<{ delivering: boolean }>(
    `delete from outgoing_mails where account_id = $1 and execution_id = $2 and node_id = $3 and not fire_and_forget
     returning delivering`,
    [accountId, executionId, nodeId],
  );
  return rows[0];
}

/** Removes all mails that steps of an execution wait for. */
export async function deleteAwaitedMails(tx: Tx, accountId: Uuid, executionId: Uuid): Promise<void> {
  await tx.query(`delete from outgoing_mails where account_id = $1 and execution_id = $2 and not fire_and_forget`, [
    accountId,
    executionId,
  ]);
}

/** Why mails of an execution wait for another try. */
type DelayedMail = Pick<MailRef, "nodeId"> & {
  readonly reason: string;
  readonly nextTryAt: number;
};

export const findDelayedMails = (db: Store, accountId: Uuid, executionId: Uuid): Promise<DelayedMail[]> =>
  db.query<DelayedMail>(
    `select node_id as "nodeId", last_error as reason, next_try_at as "nextTryAt" from outgoing_mails
      where account_id = $1 and execution_id = $2 and last_error is not null and claim_id is null`,
    [accountId, executionId],
  );

export const deleteMailsOf = (tx: Tx, scope: DeletedScope): Promise<readonly RemovedReference[]> =>
  deleteFromScope(tx, scope, { type: "OUTGOING_MAIL", table: "outgoing_mails", name: "subject" });
