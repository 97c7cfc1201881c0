/** Name lookups for connections to addresses that users configure. */
import type { lookup, LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { Unreached } from "./unreached.ts";

/** Returns why an address may not be connected to; undefined if it may. */
export type JudgeAddress = (address: string) => Unreached | undefined;

/** Returns only checked addresses, so that a second answer of the name server cannot lead elsewhere. */
export const judgedLookup =
  (judge: JudgeAddress, resolve: typeof lookup): LookupFunction =>
  (hostname, { all, ...options }, answer) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return answer(error, "");
      // One forbidden address rejects the name, because its owner controls which address is used.
      const refused = addresses.map(({ address }) => judge(address)).find((one) => one !== undefined);
      const [first] = addresses;
      if (refused || !first) return answer(refused ?? new Unreached("Unknown host", `${hostname} has no address.`), "");
      if (all) answer(null, addresses);
      else answer(null, first.address, first.family);
    });
  };
