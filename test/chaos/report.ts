/** The table of checks at the end of a run, with each violation. */
import { CHECKS, type Check } from "./checks/violation.ts";
import type { Result } from "./run.ts";

/** Shows at most `most` violations of each check. */
export function reportOf({ violations, executions, steps, bytes, faults }: Result, most: number): string {
  const count = (check: Check): number => violations.filter((one) => one.check === check).length;
  const rows = (Object.keys(CHECKS) as Check[]).map((check) => {
    const found = count(check);
    return `  ${found === 0 ? "held    " : "VIOLATED"} ${String(found).padStart(5)}  ${CHECKS[check]}`;
  });
  const shown = (Object.keys(CHECKS) as Check[]).flatMap((check) => {
    const found = violations.filter((one) => one.check === check);
    const texts = found
      .slice(0, most)
      .flatMap(({ of, expected, seen }) => [`  of        ${of}`, `  expected  ${expected}`, `  seen      ${seen}`, ""]);
    const more = found.length > most ? [`  and ${found.length - most} more`, ""] : [];
    return found.length === 0 ? [] : [`${CHECKS[check]}:`, ...texts, ...more];
  });
  return [
    `${faults} faults, ${executions} executions, ${steps} steps, ${bytes} bytes of log`,
    "  check    found",
    ...rows,
    "",
    ...shown,
  ].join("\n");
}
