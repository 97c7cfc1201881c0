/**
 * The addresses that a program may connect to when a user chose them. Users must not reach the server's own network
 * (server-side request forgery). Addresses are checked when the connection is opened, after names are resolved,
 * whatever their spelling.
 */
import { BlockList, isIP } from "node:net";

/** Whether an address may be connected to; `host` is the name or address in the URL. */
export type MayReach = (target: { readonly host: string; readonly address: string; readonly port: number }) => boolean;

/**
 * For delegates, which run in their operator's network and are not restricted. The server uses `allowPublicAddresses`.
 */
export const allowAnyAddress: MayReach = () => true;

/** IANA's registries of special-purpose addresses, and multicast: none of them is a public host. */
const INNER_4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/**
 * All public IPv6 addresses are in the first list, so that others, such as ::1, fe80::/10, fc00::/7, ::ffff:0:0/96
 * and 64:ff9b::/96, need no entry. The second list is excluded: prefixes that stand for IPv4 addresses, and examples.
 */
const OUTER_6 = ["2000::/3"];
const INNER_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const inner4 = listOf(INNER_4);
const outer6 = listOf(OUTER_6);
const inner6 = listOf(INNER_6);

const isPublic = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !inner4.check(address, "ipv4");
    case 6:
      return outer6.check(address, "ipv6") && !inner6.check(address, "ipv6");
    default:
      return false;
  }
};

/** Permits public addresses and the listed ones, in the form of `parseAllowedTarget`. */
export function allowPublicAddresses(allowed: readonly string[]): MayReach {
  const listed = allowListedAddresses(allowed);
  return (target) => isPublic(target.address) || listed(target);
}

/** Permits only listed addresses, for what is trusted only internally, such as answers without TLS. */
export function allowListedAddresses(allowed: readonly string[]): MayReach {
  const parsed = allowed.map(parseAllowedTarget).filter((one) => one !== undefined);
  const blocks = parsed.filter((one) => one.kind === "block").map(({ block }) => listOf([block]));
  const places = new Set(parsed.filter((one) => one.kind === "place").map(({ place }) => place));
  return ({ host, address, port }) => {
    if (places.has(`${host.toLowerCase()}:${port}`)) return true;
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return blocks.some((block) => block.check(address, family));
  };
}

type AllowedTarget =
  | { readonly kind: "block"; readonly block: string }
  | { readonly kind: "place"; readonly place: string };

/** `10.1.0.0/16`, a single address, or `host:port` as in a URL (`[::1]:5000`); undefined for anything else. */
export function parseAllowedTarget(text: string): AllowedTarget | undefined {
  const [address = "", bits] = text.split("/");
  const family = isIP(address);
  if (family !== 0) {
    const most = family === 4 ? 32 : 128;
    if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)) return undefined;
    return { kind: "block", block: `${address}/${bits ?? most}` };
  }
  const [, host, port] = /^([^\s/@]+):(\d{1,5})$/.exec(text) ?? [];
  const url = host === undefined ? null : URL.parse(`ws://${host}:${port}`);
  // Normalized by the URL parser, because it is compared with a parsed URL.
  return url ? { kind: "place", place: `${withoutBrackets(url.hostname)}:${Number(port)}` } : undefined;
}

/** The host of a URL without the brackets of an IPv6 address. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "").toLowerCase();

function listOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", bits] = block.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}
