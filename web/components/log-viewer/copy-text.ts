import { plainLog } from "../../util/plain-log.ts";
import type { LineSpan } from "./lines/line-range.ts";
import type { LogReader } from "./lines/log-answers.ts";

/** More belongs into a file. */
export const MOST_COPIED = 20_000;
const AT_ONCE = 5_000;

/** The lines as text, without colours. */
export async function readText(reader: LogReader, { from, to }: LineSpan): Promise<string> {
  const texts: string[] = [];
  for (let next = from; next <= to;) {
    const { lines } = await reader.lines({ from: next, limit: Math.min(AT_ONCE, to - next + 1) });
    const last = lines.at(-1)?.number;
    if (last === undefined) break;
    for (const { text } of lines) texts.push(plainLog(text));
    next = last + 1;
  }
  return texts.map((text) => `${text}\n`).join("");
}
