import { homedir } from "node:os";
import { type Files, root } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

type Ban = { readonly name: string; readonly pattern: RegExp; readonly instead: string };

const escaped = (text: string): RegExp => new RegExp(`${RegExp.escape(text)}(?![\\w-])`);

/** Folders of the machine that runs the check. */
export type Machine = { readonly checkout: string; readonly home: string };
const here: Machine = { checkout: root, home: homedir() };

/** Patterns are written so that this file does not match them. */
const bans: readonly Ban[] = [
  {
    name: "home folder",
    pattern: /(?<![\w.$}])\/(home|root|Users)\/[\w.-]/,
    instead: "use a path relative to the checkout",
  },
  {
    name: "package host",
    pattern:
      /\b(registry\.(npm|yarn)[\w-]*\.\w+|[\w.-]*artifactory[\w.-]*\.\w+|(deb|security|ftp)\.debian\.org|pypi\.org)\b/,
    instead: "leave the source of packages to the machine's own configuration",
  },
  {
    name: "document outside of the repository",
    pattern: /\b(spec|design|style|field|stack|language|reference|review)(-\d)?\.m[d]\b|\breference section[s]? \d/,
    instead: "refer to docs/architecture.md, docs/contract.md or a standard",
  },
  { name: "unfinished work", pattern: /\b(TO[D]O|FI[X]ME|XX[X])\b/, instead: "finish it, or open an issue" },
  {
    name: "switched-off check",
    pattern: /@ts-(ignor[e]|nochec[k])|(oxlin[t]|eslin[t])-disable(?!-next-line [\w@/-]+(, [\w@/-]+)* -- \S)/,
    instead: "fix the cause, or use `oxlint-disable-next-line rule -- reason`",
  },
];

function bansOn(machine: Machine): readonly Ban[] {
  const instead = "use a path relative to the checkout, or take it from the environment";
  const own = { name: "place of this checkout", pattern: escaped(machine.checkout), instead };
  const home = { name: "home folder", pattern: escaped(`${machine.home}/`), instead };
  // Folders as short as `/` or `/app` are too common to report.
  return [...bans, home, ...(machine.checkout.split("/").length > 2 ? [own] : [])];
}

/** Reports words that no committed text may contain. */
export function wordViolations(files: Files, machine: Machine = here): readonly Violation[] {
  const all = bansOn(machine);
  return [...files].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, i) =>
      all
        .filter(({ pattern }) => pattern.test(line))
        .map(({ name, instead }) => ({
          key: `${file}: ${name}`,
          message: `${file}:${i + 1} holds a ${name}: ${instead}`,
        })),
    ),
  );
}
