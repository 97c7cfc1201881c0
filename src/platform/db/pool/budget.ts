/**
 * Shares of the connections. The number of webhooks is unlimited, and a caller or a delegate may send many slow
 * requests; without shares they would occupy all connections, and other requests would wait for them. The asynchronous
 * context assigns statements to a share: the handling of a delivery begins in `asIntake`, a message of a delegate in
 * `asDelegate`, authentication in `asUnauthenticated`, a request of an actor in `asCaller`. Each part of a download
 * that is read while it is sent begins there again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { actorId, type Actor } from "../../../core/actor.ts";
import type { Grants } from "../../../core/grants.ts";
import type { Uuid } from "../../../core/ids.ts";
import type { LentTo } from "./lent.ts";
import { networkOf } from "../../network-of.ts";
import { problem } from "../problems.ts";
import { createTurns } from "./turns.ts";

/**
 * Intake has one share, all delegates have one, all work for senders without an actor has one, and so has each caller:
 * an account and the id of its actor.
 */
export type Share = "intake" | "delegates" | "unauthenticated" | `caller ${string} ${string}`;

/** Whether a check of permissions passes with these grants. */
export type PassesWith = (grants: Grants) => boolean;

/** Runs at the end of each transaction of a request, before its commit. A rejection rolls the transaction back. */
export type BeforeCommit = {
  (): Promise<void>;
  readonly recordCheck?: (actor: Actor, key: unknown, passes: PassesWith) => void;
};

type Context = {
  readonly share?: Share;
  /** Groups that take turns within the share, the outermost first. A function is called only for a statement. */
  readonly turn?: readonly string[] | (() => readonly string[]);
  /** True inside an open transaction. A permit for a second connection could wait for the first one forever. */
  readonly isBeside: boolean;
  readonly beforeCommit?: BeforeCommit | undefined;
};
const context = new AsyncLocalStorage<Context>();

/**
 * Runs work whose statements count towards the share of intake, including everything that it starts. Accounts take
 * turns, and so do the triggers of each: `turn` is the account and its trigger.
 */
export const asIntake = <T>(work: () => T, turn: readonly string[] = ["unknown"]): T =>
  context.run({ share: "intake", turn, isBeside: false }, work);
/**
 * Runs work whose statements count towards the share of all delegates, including everything that it starts. Tokens of
 * delegates take turns, and so do the delegates of each; hellos of one token take their turns together.
 */
export const asDelegate = <T>(tokenId: Uuid, delegateId: Uuid | undefined, work: () => T): T =>
  context.run({ share: "delegates", turn: [tokenId, delegateId ?? "hello"], isBeside: false }, work);

/**
 * Runs work for a sender whose actor is not known yet, such as its authentication or sign-in, whose statements count
 * towards the share of all such senders. Their networks take turns.
 */
export const asUnauthenticated = <T>(sender: { readonly clientAddress: string }, work: () => T): T =>
  context.run({ share: "unauthenticated", turn: () => [networkOf(sender.clientAddress)], isBeside: false }, work);

/**
 * Runs work whose statements count towards the share of the actor, including everything that it starts. Its
 * transactions call `beforeCommit`.
 */
export const asCaller = <T>(actor: Actor, work: () => T, beforeCommit?: BeforeCommit): T =>
  context.run({ share: `caller ${actor.accountId} ${actorId(actor)}`, isBeside: false, beforeCommit }, work);

/** Runs the work of an open transaction, and then what the request has to do before the commit. */
export async function besideTransaction<T>(work: () => Promise<T>): Promise<T> {
  const current = context.getStore();
  return context.run({ ...current, isBeside: true }, async () => {
    const result = await work();
    await current?.beforeCommit?.();
    return result;
  });
}

/**
 * Records a check of permissions that has passed in a request, so that it is repeated before a commit. Equal checks
 * have equal keys.
 */
export const recordCheck = (actor: Actor, key: unknown, passes: PassesWith): void =>
  context.getStore()?.beforeCommit?.recordCheck?.(actor, key, passes);

/**
 * Runs work that only follows from a share or a transaction, such as waking up readers, or that several requests
 * without a transaction wait for.
 */
export const outsideShares = <T>(work: () => T): T => context.exit(work);

/** Runs a short read that several callers wait for. It needs no permit, because some may have an open transaction. */
export const asSharedRead = <T>(work: () => T): T => context.run({ isBeside: true }, work);

/** The share of a statement sent now; undefined outside of shares and beside an open transaction. */
export function currentShare(): Share | undefined {
  const current = context.getStore();
  return current?.isBeside ? undefined : current?.share;
}

/** True for a statement beside an open transaction, such as the check before a commit, and for a shared read. */
export const isBesideTransaction = (): boolean => context.getStore()?.isBeside ?? false;

/** The groups of a statement sent now within its share. */
export function currentTurn(): readonly string[] {
  const { turn = [] } = context.getStore() ?? {};
  return typeof turn === "function" ? turn() : turn;
}

export type Lend = () => Promise<LentTo>;

export type ShareLimit = {
  readonly most: number;
  readonly waitMs: number;
  /** Called when all connections have been given back. */
  readonly onIdle: () => void;
  /** The groups of a request that waits; by default one for all. */
  readonly turnOf?: () => readonly string[];
  /** Requests of one group that wait; further ones are refused at once. */
  readonly mostWaiting?: number;
};

/** Limits the number of lent connections; those that wait take turns. Rejects with `db.busy` after `waitMs`,
 * or at once where too many wait. */
export function lendWithin(
  lend: Lend,
  { most, waitMs, onIdle, turnOf = () => [], mostWaiting = Infinity }: ShareLimit,
): Lend {
  let free = most;
  const waiting = createTurns<() => void>(mostWaiting);

  const permit = async (): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    const granted = Promise.withResolvers<void>();
    const grant = (): void => {
      clearTimeout(late);
      granted.resolve();
    };
    const late = setTimeout(() => {
      remove?.();
      granted.reject(problem("db.busy", [], { retryAfter: 1 }));
    }, waitMs);
    const remove = waiting.add(turnOf(), grant);
    if (!remove) {
      clearTimeout(late);
      throw problem("db.busy", [], { retryAfter: 1 });
    }
    await granted.promise;
  };
  const giveBack = (): void => {
    const next = waiting.takeNext();
    if (next) return next();
    free += 1;
    if (free === most) onIdle();
  };

  return async () => {
    await permit();
    try {
      const lent = await lend();
      return {
        ...lent,
        release: (destroy) => {
          lent.release(destroy);
          giveBack();
        },
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  };
}
