/** Reads tokens one after the other. */
import type { Complain, Token } from "./tokens.ts";

export type Reader = ReturnType<typeof createReader>;

export function createReader(tokens: readonly Token[], complain: Complain) {
  let at = 0;

  const take = (kind: Token["kind"]): Token | undefined => {
    const next = tokens[at];
    if (next?.kind !== kind) return undefined;
    at += 1;
    return next;
  };

  return {
    complain,
    /** Takes the next token if it is of this kind. */
    take,
    /** As `take`, for a token with a text. */
    takeText(kind: "word" | "sub"): string | undefined {
      const taken = take(kind);
      return taken && "text" in taken ? taken.text : undefined;
    },
    /** Takes the next token if it is this word. */
    takeWord(word: string): boolean {
      const next = tokens[at];
      if (next?.kind !== "word" || next.text.toLowerCase() !== word) return false;
      at += 1;
      return true;
    },
    /** Whether the token after the next one is of this kind. */
    isFollowedBy: (kind: Token["kind"]): boolean => tokens[at + 1]?.kind === kind,
    /** Takes the next token. Throws if it is not of this kind. */
    require(kind: Token["kind"]): void {
      if (!take(kind)) throw complain(`a ${kind} is missing`);
    },
    /** Throws if a token is left. */
    requireEnd(): void {
      if (at < tokens.length) throw complain("something follows where it should end");
    },
  };
}
