import type { Violation } from "./violations.ts";

export type Manifest = Readonly<Record<string, unknown>>;
type Locked = {
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
};
export type Lock = { readonly packages: Readonly<Record<string, Locked>> };

/** Licences that require only a notice, or nothing (MIT-0, 0BSD). Zlib comes with pako, beside MIT. */
const LICENCES = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "0BSD",
  "Python-2.0",
  "Zlib",
]);
/**
 * Packages under other licences. MPL-2.0 covers only its own files, which are used unmodified and are part of nothing
 * that browsers get; Unlicense requires nothing.
 */
const EXCEPTIONS: readonly (readonly [place: RegExp, licence: string])[] = [
  [/^node_modules\/lightningcss(?:-[\w-]+)?$/, "MPL-2.0"],
  [/^node_modules\/(?:axe-core|@axe-core\/playwright)$/, "MPL-2.0"],
  [/^node_modules\/isbot$/, "Unlicense"],
];
const GROUPS = ["dependencies", "optionalDependencies", "devDependencies"];

/** Reports everything in package.json or the lock file that allows more than was reviewed. */
export function packageViolations(manifest: Manifest, lock: Lock): readonly Violation[] {
  const packages = Object.entries(lock.packages).filter(([place]) => place !== "");
  const denied = record(manifest["allowScripts"]);
  return [
    ...GROUPS.flatMap((group) => Object.entries(record(manifest[group])))
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))
      .map(([name, version]) => say(name, `${name} is asked for as "${String(version)}": write one exact version`)),
    ...packages
      .filter(([place, { license }]) => license === undefined || !(isFree(license) || isException(place, license)))
      .map(([place, { license }]) =>
        say(place, `${place} has the licence ${license ?? "(none)"}: choose another package`),
      ),
    ...packages
      .filter(([place, { hasInstallScript }]) => hasInstallScript === true && denied[nameOf(place)] !== false)
      .map(([place]) =>
        say(place, `${place} has an install script: deny it in allowScripts and see that it works without`),
      ),
    ...packages
      .filter(([, { integrity }]) => integrity === undefined)
      .map(([place]) => say(place, `${place} has no integrity in the lock file`)),
    ...packages
      .filter(([, { resolved }]) => resolved !== undefined)
      .map(([place]) => say(place, `${place} names the host it came from: install with this folder's .npmrc`)),
  ];
}

const isException = (place: string, licence: string): boolean =>
  EXCEPTIONS.some(([places, allowed]) => places.test(place) && licence === allowed);

/**
 * `A` and `(A AND B)`: each must be permissive. `(A OR B)`: one is enough. Mixed and nested expressions are refused.
 */
function isFree(expression: string): boolean {
  const plain = expression.replaceAll(/^\(|\)$/g, "");
  if (plain.includes(" OR ")) return plain.split(" OR ").some((licence) => LICENCES.has(licence));
  return plain.split(" AND ").every((licence) => LICENCES.has(licence));
}

const nameOf = (place: string): string => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

const record = (value: unknown): Manifest => (typeof value === "object" && value !== null ? (value as Manifest) : {});

const say = (key: string, message: string): Violation => ({ key, message });
