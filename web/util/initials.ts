const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The first characters of the first and the last word, or of an address: Ada Lovelace, ada.lovelace@example.org → AL. */
export function initialsOf(name: string): string {
  const words = name
    .split("@", 1)
    .join("")
    .split(/[\s._-]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return (
    chosen
      .map((word) => firstCharacter(word ?? ""))
      .join("")
      .toLocaleUpperCase("en") || "?"
  );
}

function firstCharacter(word: string): string {
  const start = word.replace(/^[^\p{L}\p{N}]+/u, "");
  return [...segmenter.segment(start.slice(0, 16))][0]?.segment ?? "";
}
