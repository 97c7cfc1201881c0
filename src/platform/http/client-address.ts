/**
 * The network address of the client. Behind trusted proxies it is the right-most address of X-Forwarded-For that does
 * not belong to one of them: each proxy appends the address that it saw, and the client may have written what is
 * further left. The header of any other peer is ignored, and so is `Forwarded` (RFC 7239): a proxy that writes one of
 * the two headers passes the other through unchecked.
 */
import { BlockList, isIP, isIPv4 } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";

declare module "fastify" {
  interface FastifyRequest {
    /** IPv4 or IPv6 without port and zone; "" for a peer that has disconnected. */
    readonly clientAddress: string;
  }
}

/** Returns the address of the client of a request. */
export type AddressOf = (request: IncomingMessage) => string;

/** Returns a function for the address of a request's client. `trusted` has networks in the form of `parseNetwork`. */
export function clientAddressBehind(trusted: readonly string[]): AddressOf {
  const isTrusted = trustedBy(trusted);
  return ({ socket, headers }) => clientAddress(socket.remoteAddress, headers["x-forwarded-for"], isTrusted);
}

/** Defines `request.clientAddress` for all requests. */
export function addClientAddress(app: FastifyInstance, addressOf: AddressOf): void {
  app.decorateRequest("clientAddress", {
    getter(this: FastifyRequest) {
      return addressOf(this.raw);
    },
  });
}

/** `forwarded` is the header as sent; several headers are joined by commas. */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | readonly string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = addressIn(peer ?? "") ?? peer ?? "";
  const claimed = String(forwarded ?? "").split(",");
  while (isTrusted(address)) {
    const next = addressIn(claimed.pop() ?? "");
    // The list ends or has no address here, so the client is the last known hop.
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

export function trustedBy(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks.map(parseNetwork))
    if (network) list.addSubnet(network.address, network.bits, network.family);
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

type Network = { readonly address: string; readonly bits: number; readonly family: "ipv4" | "ipv6" };

/**
 * Parses `10.1.0.0/16`, `fd00::/8` or a single address; undefined for anything else, and for a network of all
 * addresses.
 */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes("%")) return undefined;
  const most = version === 4 ? 32 : 128;
  const count = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : 0;
  if (count < 1 || count > most) return undefined;
  return { address, bits: count, family: version === 4 ? "ipv4" : "ipv6" };
}

/**
 * Removes the port that some proxies append: `203.0.113.7:4711`, `[2001:db8::7]:4711`. Undefined without an address.
 */
function addressIn(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const word = text.trim();
  const [, bracketed, bare] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(word) ?? [];
  const address = (bracketed ?? bare ?? word).replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) === 0 ? undefined : address.toLowerCase();
}
