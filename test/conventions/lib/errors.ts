import type { Declared } from "../../../scripts/lib/problem-tables.ts";
import type { Violation } from "./violations.ts";

const PLACE = /(^|[/-])problems\.ts$/;

/** Reports problem codes that are declared twice, in the wrong file, undocumented, or documented but removed. */
export function errorViolations(declared: readonly Declared[], page: string): readonly Violation[] {
  const documented = [...page.matchAll(/^- `([^`]+)` /gm)].map(([, code = ""]) => code);
  const codes = new Set(declared.map(({ code }) => code));
  const twice = declared.filter(({ code }, i) => declared.findIndex((other) => other.code === code) !== i);
  return [
    ...twice.map(({ code, file, line }) =>
      say(code, `${file}:${line} declares ${code} a second time: a code means one thing`),
    ),
    ...declared
      .filter(({ file }) => !PLACE.test(file))
      .map(({ code, file, line }) =>
        say(code, `${file}:${line} declares ${code}: problem tables stand in problems.ts`),
      ),
    ...[...codes]
      .filter((code) => !documented.includes(code))
      .map((code) => say(code, `${code} is not in docs/errors.md: run \`npm run gen\``)),
    ...documented
      .filter((code) => !codes.has(code))
      .map((code) => say(code, `docs/errors.md lists ${code}, which nothing declares: run \`npm run gen\``)),
  ];
}

const say = (key: string, message: string): Violation => ({ key, message });
