/**
 * Which addresses a program may connect to when somebody else chose them: the server's own network is none of its
 * users' business (server-side request forgery). Addresses are judged as they are connected to, after names are
 * resolved and however they were spelled.
 */
import { BlockList, isIP } from "node:net";

/** Whether an address may be connected to; `host` is the name or address in the URL. */
export type MayReach = (target: { readonly host: string; readonly address: string; readonly port: number }) => boolean;

export const reachAnything: MayReach = () => true;

/** IANA's registries of special-purpose addresses, and multicast: nothing of these is a public host. */
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
 * Public addresses of version 6 all lie in here, so that whatever is not, as ::1, fe80::/10, fc00::/7, ::ffff:0:0/96
 * and 64:ff9b::/96, needs no list. The second list is taken out: prefixes that stand for addresses of version 4, and examples.
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

/** Public addresses, and what is allowed besides: `parseReach` tells its form. */
export function reachPublic(allowed: readonly string[]): MayReach {
  const listed = reachListed(allowed);
  return (target) => isPublic(target.address) || listed(target);
}

/** What is allowed by name alone: for what may be trusted inside only, such as answers without TLS. */
export function reachListed(allowed: readonly string[]): MayReach {
  const parsed = allowed.map(parseReach).filter((one) => one !== undefined);
  const blocks = parsed.filter((one) => one.kind === "block").map(({ block }) => listOf([block]));
  const places = new Set(parsed.filter((one) => one.kind === "place").map(({ place }) => place));
  return ({ host, address, port }) => {
    if (places.has(`${host.toLowerCase()}:${port}`)) return true;
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return blocks.some((block) => block.check(address, family));
  };
}

type Reach = { readonly kind: "block"; readonly block: string } | { readonly kind: "place"; readonly place: string };

/** `10.1.0.0/16`, an address alone, or `host:port` as in a URL (`[::1]:5000`); undefined for anything else. */
export function parseReach(text: string): Reach | undefined {
  const [address = "", bits] = text.split("/");
  const family = isIP(address);
  if (family !== 0) {
    const most = family === 4 ? 32 : 128;
    if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)) return undefined;
    return { kind: "block", block: `${address}/${bits ?? most}` };
  }
  const [, host, port] = /^([^\s/@]+):(\d{1,5})$/.exec(text) ?? [];
  const url = host === undefined ? null : URL.parse(`ws://${host}:${port}`);
  // Written as the URL's own parser writes it, since it is compared with that.
  return url ? { kind: "place", place: `${bare(url.hostname)}:${Number(port)}` } : undefined;
}

/** The host of a URL without the brackets of an address of version 6. */
export const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, "").toLowerCase();

function listOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", bits] = block.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}
