import { problem } from "../problems.ts";

/** About half a second of processor time, during which the server answers no other request. */
const MOST = 8_000_000;
/** Comparing this many characters costs as much as visiting a value. */
const CHARACTERS = 64;

/**
 * Counts what the operations of one PATCH do, because each may visit every value of a list with many conditions.
 * Throws `scim.too_much_work`.
 */
export type Work = { readonly spend: (visits: number, characters?: number) => void };

export function createWork(most = MOST): Work {
  let left = most;
  return {
    spend: (visits, characters = 0) => {
      left -= visits + characters / CHARACTERS;
      if (left < 0) throw problem("scim.too_much_work");
    },
  };
}
