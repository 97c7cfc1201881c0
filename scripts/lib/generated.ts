/** A file, or a part of one, that is made from the code and committed, so that its changes are read in review. */
export type Generator = {
  readonly file: string;
  /** The whole new text, from the text as it is now (empty when there is no file). */
  readonly make: (current: string) => string | Promise<string>;
};

/** Replaces what stands between `<!-- name: … -->` and `<!-- end of name -->`. Throws when the markers are missing. */
export function between(name: string, text: string, body: string): string {
  const open = new RegExp(`<!-- ${name}:[^\\n]*-->\\n`).exec(text);
  const close = text.indexOf(`<!-- end of ${name} -->`);
  if (open === null || close < open.index)
    throw new Error(`the markers <!-- ${name}: … --> <!-- end of ${name} --> are missing`);
  return `${text.slice(0, open.index + open[0].length)}\n${body.trim()}\n\n${text.slice(close)}`;
}

/** A Markdown table without padding, so that one changed row is one changed line. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
