import { styleText } from "node:util";

const LEVELS: Readonly<Record<number, string>> = {
  10: styleText("dim", "trace"),
  20: styleText("dim", "debug"),
  30: styleText("green", " info"),
  40: styleText("yellow", " warn"),
  50: styleText("red", "error"),
};

/**
 * Formats a log line for a terminal: `10:42:07  info  delegate connected  delegate=local slots=4`. Other lines do not
 * change.
 */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, msg, pid: _pid, hostname: _host, err, ...fields } = entry;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const stack = (err as { stack?: string } | undefined)?.stack;
  const text = `${styleText("dim", at)} ${LEVELS[Number(level)] ?? String(level)}  ${String(msg)}  ${styleText("dim", shown.join(" "))}`;
  return `${text.trimEnd()}${stack === undefined ? "" : `\n${stack}`}\n`;
}
