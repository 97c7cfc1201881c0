import { createHash } from "node:crypto";

/** A text with this beginning is planned at each run and gets no name, for the many combinations of filters. */
export const UNPREPARED = "/* unprepared */ ";

/** Names of prepared statements, one for each text. */
export type Statements = {
  /** The name of a text; undefined when the names are used up, and the text runs unnamed. */
  readonly nameOf: (text: string) => string | undefined;
  /** Gives every text a new name, so that each connection prepares it again. */
  readonly renew: () => void;
};

/**
 * A connection stores its prepared statements until it is closed, so the number of names is limited. The program has
 * a few hundred fixed texts; only a mistake (a value inside a text) produces more.
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
