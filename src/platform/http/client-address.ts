/**
 * The network address of the client that sent a request. Behind proxies that the operator trusts it is the right-most
 * address of X-Forwarded-For that is not one of theirs: each proxy appends the address that it saw, and what stands
 * further to the left was written by the client. The header of any other peer is not looked at, and neither is
 * `Forwarded` (RFC 7239): a proxy that writes one of the two passes on whatever a client has put into the other.
 */
import { BlockList, isIP } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** Of version 4 or 6, without port and zone; "" for a peer that is gone. */
    readonly clientAddress: string;
  }
}

/** Makes `request.clientAddress` for all requests. `trusted`: networks as `parseNetwork` takes them. */
export function addClientAddress(app: FastifyInstance, trusted: readonly string[]): void {
  const isTrusted = trustedBy(trusted);
  app.decorateRequest("clientAddress", {
    getter(this: FastifyRequest) {
      return clientAddress(this.raw.socket.remoteAddress, this.raw.headers["x-forwarded-for"], isTrusted);
    },
  });
}

/** `forwarded`: the header as it was sent, several of them joined by commas. */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | readonly string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = addressIn(peer ?? "") ?? peer ?? "";
  const claimed = String(forwarded ?? "").split(",");
  while (isTrusted(address)) {
    const next = addressIn(claimed.pop() ?? "");
    // Nothing more, or no address: it came from the last proxy that is known.
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

/** `10.1.0.0/16`, `fd00::/8` or an address alone; undefined for anything else, and for a network of all addresses. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes("%")) return undefined;
  const most = version === 4 ? 32 : 128;
  const count = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : 0;
  if (count < 1 || count > most) return undefined;
  return { address, bits: count, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Some proxies append the port: `203.0.113.7:4711`, `[2001:db8::7]:4711`. Undefined where there is no address. */
function addressIn(text: string): string | undefined {
  const word = text.trim();
  const [, bracketed, bare] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(word) ?? [];
  const address = (bracketed ?? bare ?? word).replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) === 0 ? undefined : address.toLowerCase();
}
