import { Client, escapeIdentifier } from "pg";
import { clientConfig, type Connection } from "../connection.ts";
import type { Db, DbLog, Notified } from "../db.ts";

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
type Subscription = { readonly channel: string; readonly notified: Notified };

const usualBackoff: Backoff = (attempt) => Math.min(50 * 2 ** attempt, 5_000);

/**
 * One connection for all channels, opened with the first listener. After a loss it is opened again with growing
 * pauses, listens to every channel again and wakes every listener once with an empty payload, because notifications
 * of the meantime are lost.
 */
export function createListener({ connection, log, onError, backoff = usualBackoff }: ListenerOptions): Listener {
  const subscriptions = new Set<Subscription>();
  let client: Client | undefined;
  let started = false;
  let closed = false;
  let attempt = 0;
  let retry: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();

  function wake(subscription: Subscription, payload: string): void {
    if (!subscriptions.has(subscription)) return;
    try {
      subscription.notified(payload);
    } catch (error) {
      onError(error);
    }
  }

  function deliver(channel: string, payload: string): void {
    for (const subscription of [...subscriptions]) {
      if (subscription.channel === channel) wake(subscription, payload);
    }
  }

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
    next.on("notification", (message) => deliver(message.channel, message.payload ?? ""));
    next.on("error", () => {});
    next.on("end", () => {
      if (ready) lost(new Error("the connection ended"));
    });
    try {
      await next.connect();
      for (const { channel } of subscriptions) await next.query(`listen ${escapeIdentifier(channel)}`);
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
    if (closed) return next.end();
    ready = true;
    client = next;
    attempt = 0;
    for (const subscription of [...subscriptions]) wake(subscription, "");
  }

  /** Adds a channel to an open connection. A failure closes the connection; the next one listens to all channels. */
  function join(on: Client, subscription: Subscription): void {
    on.query(`listen ${escapeIdentifier(subscription.channel)}`).then(
      () => wake(subscription, ""),
      () => on.end().catch(() => {}),
    );
  }

  function leave(subscription: Subscription): void {
    subscriptions.delete(subscription);
    if ([...subscriptions].some((it) => it.channel === subscription.channel)) return;
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
