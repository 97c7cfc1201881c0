import { Client, escapeIdentifier } from "pg";
import { clientConfig, type Connection } from "../connection.ts";
import type { Db, DbLog, OnNotification } from "../db.ts";

/** Milliseconds before attempt 1, 2, … after a lost connection. */
export type Backoff = (attempt: number) => number;

export type ListenerOptions = {
  readonly connection: Connection;
  readonly log: DbLog;
  readonly onError: (error: unknown) => void;
  readonly backoff: Backoff | undefined;
};

export type Listener = Pick<Db, "listen" | "close">;

/** One listener of one channel. An object, so that the same function can listen twice. */
type Subscription = { readonly channel: string; readonly notified: OnNotification };

const usualBackoff: Backoff = (attempt) => Math.min(50 * 2 ** attempt, 5_000);

/**
 * One connection for all channels, opened with the first listener. After a loss it is opened again with growing
 * pauses, listens to every channel again and wakes every listener once with an empty payload, because notifications
 * of the meantime are lost.
 */
export function createListener({ connection, log, onError, backoff = usualBackoff }: ListenerOptions): Listener {
  const subscriptions = createSubscriptions(onError);
  let client: Client | undefined;
  let started = false;
  let closed = false;
  let attempt = 0;
  let retry: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();

  function lost(error: unknown): void {
    client = undefined;
    if (closed) return;
    attempt += 1;
    log.warn({ err: error, attempt }, "the listening connection to the database is lost; connecting again");
    retry = setTimeout(connect, backoff(attempt));
  }

  function connect(): void {
    connecting = open().catch(lost);
  }

  /** Resolves when it listens to every channel. Rejects and closes the connection if that fails. */
  async function open(): Promise<void> {
    const next = new Client(clientConfig(connection));
    let ready = false;
    next.on("notification", (message) => subscriptions.wakeChannel(message.channel, message.payload ?? ""));
    next.on("error", () => {});
    next.on("end", () => {
      if (ready) lost(new Error("the connection ended"));
    });
    try {
      await next.connect();
      // Nothing is awaited between the last channel and `client = next`, so that no new listener is missed.
      for (const channel of subscriptions.channels()) await next.query(`listen ${escapeIdentifier(channel)}`);
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
    if (closed) return next.end();
    ready = true;
    client = next;
    attempt = 0;
    subscriptions.wakeAll();
  }

  /** Adds a channel to an open connection. A failure closes the connection; the next one listens to all channels. */
  function join(on: Client, subscription: Subscription): void {
    on.query(`listen ${escapeIdentifier(subscription.channel)}`).then(
      () => subscriptions.wake(subscription, ""),
      () => on.end().catch(() => {}),
    );
  }

  function leave(subscription: Subscription): void {
    subscriptions.remove(subscription);
    if (subscriptions.has(subscription.channel)) return;
    // A failure here means that the connection, and with it the channel, is lost.
    client?.query(`unlisten ${escapeIdentifier(subscription.channel)}`).catch(() => {});
  }

  return {
    listen: (channel, notified) => {
      const subscription = { channel, notified };
      subscriptions.add(subscription);
      if (client) join(client, subscription);
      else if (!started) connect();
      started = true;
      return () => leave(subscription);
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await connecting;
      await client?.end();
    },
  };
}

function createSubscriptions(onError: (error: unknown) => void) {
  const all = new Set<Subscription>();

  /** Calls the listener unless it was removed. */
  function wake(subscription: Subscription, payload: string): void {
    if (!all.has(subscription)) return;
    try {
      subscription.notified(payload);
    } catch (error) {
      onError(error);
    }
  }

  return {
    add: (subscription: Subscription): void => void all.add(subscription),
    remove: (subscription: Subscription): void => void all.delete(subscription),
    /** Whether the channel has a listener. */
    has: (channel: string): boolean => [...all].some((it) => it.channel === channel),
    wake,
    wakeChannel(channel: string, payload: string): void {
      for (const subscription of [...all]) {
        if (subscription.channel === channel) wake(subscription, payload);
      }
    },
    wakeAll(): void {
      for (const subscription of [...all]) wake(subscription, "");
    },
    /** The channels of all listeners, also of those that are added during the iteration. */
    *channels(): Generator<string> {
      for (const { channel } of all) yield channel;
    },
  };
}
