/** TCP connections to addresses that users configure, for protocols other than HTTP. */
import { lookup } from "node:dns";
import { connect, isIP, type Socket } from "node:net";
import { judgedLookup } from "./judged-lookup.ts";
import type { MayReach } from "./reach.ts";
import { toUnreached, Unreached } from "./unreached.ts";

export type OpenConnectionOptions = {
  readonly mayReach: MayReach;
  /** Closes the connection, also after it was opened. */
  readonly signal: AbortSignal;
  /** The name service; the system's by default, replaced in tests. */
  readonly lookup?: typeof lookup;
};

/**
 * Opens a connection to a host name or IP address. The address is checked when the connection is opened, and only the
 * checked address is used. Rejects with Unreached, whose message is for the user who configured the address.
 */
export function openConnection(
  { mayReach, signal, lookup: resolve = lookup }: OpenConnectionOptions,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Socket> {
  const target = `${host}:${port}`;
  const judge = (address: string): Unreached | undefined =>
    mayReach({ host: host.toLowerCase(), address, port })
      ? undefined
      : new Unreached(
          "Address not allowed",
          `The server may not connect to ${target}, since its address is not public; allow it with RAILHEAD_ALLOW_PRIVATE_ADDRESSES.`,
        );
  // A host that is an IP address is not resolved.
  const refused = isIP(host) === 0 ? undefined : judge(host);
  if (refused) return Promise.reject(refused);
  return new Promise((settle, reject) => {
    const fail = (error: unknown): void => reject(toUnreached(error, target, signal));
    if (signal.aborted) return fail(signal.reason);
    const socket = connect({ host, port, signal, lookup: judgedLookup(judge, resolve) });
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.removeListener("error", fail);
      settle(socket);
    });
  });
}
