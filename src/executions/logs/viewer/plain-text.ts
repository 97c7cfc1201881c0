const ESCAPE = 0x1b;

/**
 * Escape sequences of terminals (ECMA-48): those that begin with `[`, as colours; those that begin with `]`, as links, up
 * to their end; others of a few characters. The parts of a sequence have no character in common, so that the search
 * takes time in proportion to the text.
 */
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Whole lines as text, without escape sequences. It has as many line feeds as the bytes. */
export function plainTextOf(lines: Buffer): string {
  const text = lines.toString("utf8");
  return lines.includes(ESCAPE) ? text.replace(SEQUENCE, "") : text;
}
