import { createHash } from "node:crypto";

/** A text that begins so is planned each time it is run and keeps no name: one of many combinations of a filter. */
export const UNPREPARED = "/* unprepared */ ";

/** Names of prepared statements, one for each text. */
export type Statements = {
  /** The name for a text; undefined when there are too many already, and the text runs unnamed. */
  readonly nameOf: (text: string) => string | undefined;
  /** From now on every text gets another name, so that each connection prepares it anew. */
  readonly renew: () => void;
};

/**
 * A connection keeps each statement it has prepared until it ends, so the names are bounded: a
 * program has a few hundred fixed texts, and only a mistake (a value inside a text) makes more.
 */
export function createStatements(limit: number): Statements {
  const names = new Map<string, string>();
  let generation = 0;
  return {
    nameOf: (text) => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= limit || text.startsWith(UNPREPARED)) return undefined;
      const name = `r${generation}_${createHash("sha256").update(text).digest("base64url").slice(0, 16)}`;
      names.set(text, name);
      return name;
    },
    renew: () => {
      generation += 1;
      names.clear();
    },
  };
}
