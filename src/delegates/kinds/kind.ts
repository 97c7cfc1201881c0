/** What the server knows of one kind of work: how its secrets are put in, and which outcome answers it. */
import type { ToDelegate, ToServer, Work as SentWork } from "../../../protocol/messages.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Problem } from "../../core/problem.ts";
import type { Session } from "../session/sessions.ts";
import type { LeaseKey } from "../store/leases.ts";
import type { OpenTestSecrets, ResolveSecrets, SecretDelivery, TaskEnd, Work } from "../task.ts";

/** A lease, as the message `run` names it. */
export type Run = Omit<Extract<ToDelegate, { kind: "run" }>, "work" | "kind">;

/** The connection of the delegate that leases the task. */
export type Recipient = { readonly accountId: Uuid } & Pick<
  Session,
  "send" | "sendAndFlush" | "endUnsentTask" | "close" | "verifyEntitlement"
> & {
    /** Whether the delegate still leases the task. */
    readonly isLeased: (run: Pick<Run, "task">) => boolean;
  };

/** The attempt of a task and the delegate that leases it; undefined if the lease of this epoch has ended. */
type FindLease = (
  lease: LeaseKey,
) => Promise<Pick<SecretDelivery, "accountId" | "runId" | "nodeId" | "attempt" | "delegate"> | undefined>;

export type DeliverDeps = {
  readonly openTestSecrets: OpenTestSecrets;
  readonly resolveSecrets: ResolveSecrets;
  readonly findLease: FindLease;
  readonly onError: (error: unknown) => void;
};

/** A leased task on its way to its delegate. */
export type Delivery = { readonly deps: DeliverDeps; readonly to: Recipient; readonly run: Run };

/** The work as it is sent; `unsent`: the delegate is gone; `over`: the task has ended or is no longer leased. */
export type Prepared = SentWork | "unsent" | "over";

type Outcome = Extract<ToServer, { kind: "finished" }>["outcome"];

/** One kind of work; `W` is its stored form. */
export type WorkKind<W = Work> = {
  /** The kind of outcome with which a delegate reports a result; it may always report that there is none. */
  readonly outcome: Outcome["kind"];
  /** Puts the secrets in. Synchronous for work without secrets, which is sent at once. */
  readonly prepare: (delivery: Delivery, work: W) => Prepared | Promise<Prepared>;
};

/** Finds the lease of the task; undefined if it has ended. */
export async function findLeaseOf({ deps, to, run: { task, epoch } }: Delivery): ReturnType<FindLease> {
  const id = fromWire(task);
  return id && deps.findLease({ accountId: to.accountId, id, epoch });
}

/** How a task ends whose secrets are refused. The message names the secret and the reason, never its content. */
export const endOf = ({ status, message }: Problem): TaskEnd => ({
  kind: "refused",
  type: status === 403 ? "Authorization" : "ConfigurationFailure",
  message,
});
