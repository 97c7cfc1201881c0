/** A file, or a part of a file, that is generated from the code and committed. */
export type Generator = {
  readonly file: string;
  /** Returns the new text of the file from the current text (empty without a file). */
  readonly make: (current: string) => string | Promise<string>;
};

/** Replaces the text between `<!-- name: … -->` and `<!-- end of name -->`. Throws if the markers are missing. */
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
