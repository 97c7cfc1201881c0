import type { Db } from "../db.ts";
import { outsideShares } from "../pool/budget.ts";

const GATHER_MS = 25;
/** NOTIFY carries at most 8000 bytes; a word has about 40. */
const WORDS_AT_ONCE = 190;

/**
 * Collects the words of a moment and sends them as one payload, separated by spaces: a burst of changes costs one
 * commit instead of one for each.
 */
export function createNotificationBatcher(deps: {
  db: Db;
  channel: string;
  prefix?: string;
  onError: (error: unknown) => void;
}): {
  add: (word: string) => void;
  stop: () => void;
} {
  const gathered = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    const words = [...gathered];
    gathered.clear();
    for (let at = 0; at < words.length; at += WORDS_AT_ONCE) {
      const payload = words.slice(at, at + WORDS_AT_ONCE);
      if (deps.prefix !== undefined) payload.unshift(deps.prefix);
      deps.db.notify(deps.channel, payload.join(" ")).catch(deps.onError);
    }
  }

  return {
    add: (word) => {
      gathered.add(word);
      // The words of other requests travel with it.
      timer ??= outsideShares(() => setTimeout(flush, GATHER_MS).unref());
    },
    stop: () => clearTimeout(timer),
  };
}
