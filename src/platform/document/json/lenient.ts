import { z } from "zod";
import { explainIssue } from "../explain.ts";
import type { Path } from "../position/path.ts";
import { schemaProblem, type Positioned } from "../validate.ts";

/** A field of a request that the schema does not know, where it stands, and what it says. */
export type IgnoredField = { readonly path: Path; readonly value: unknown };

/** `root`: the key of the document under which the value stands; without it the document is the value. */
export type LenientOptions = {
  readonly root?: string;
  /** Called once, if there are any, before a fault of the rest is thrown. */
  readonly onIgnored: (fields: readonly IgnoredField[]) => void;
};

/** Each round finds the unknown fields that those before it hid in a union. More than these is no shape of ours. */
const MAX_ROUNDS = 10;

/**
 * As `validate`, for the envelope of a request: unknown fields are left out, as if they had not been sent, and
 * reported. A field that the schema refuses by name (`z.never()`), and one of a `closedObject`, is still a fault.
 */
export function validateEnvelope<T>(schema: z.ZodType<T>, doc: Positioned, options: LenientOptions): T {
  const { root, onIgnored } = options;
  const whole = root === undefined ? schema : z.strictObject({ [root]: schema });
  const ignored: IgnoredField[] = [];
  let value = doc.value;
  let parsed = whole.safeParse(value, { error: explainIssue });
  for (let round = 0; round < MAX_ROUNDS && !parsed.success; round += 1) {
    const paths = unknownIn(parsed.error.issues, []);
    if (paths.length === 0) break;
    const left = without(value, paths);
    ignored.push(...left.removed);
    value = left.value;
    parsed = whole.safeParse(value, { error: explainIssue });
  }
  if (ignored.length > 0) onIgnored(ignored);
  if (!parsed.success) throw schemaProblem(parsed.error, { ...doc, value });
  return root === undefined ? (parsed.data as T) : ((parsed.data as { readonly [key: string]: T })[root] as T);
}

/**
 * An object of an envelope whose unknown fields are refused all the same: what it grants is narrowed by its fields, so
 * that one which is left out gives more than was meant.
 */
export const closedObject = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.object(shape).catchall(z.never().optional());

const partOf = (part: PropertyKey): string | number => (typeof part === "symbol" ? String(part) : part);

function unknownIn(issues: readonly z.core.$ZodIssue[], base: Path): Path[] {
  return issues.flatMap((issue): Path[] => {
    const path = [...base, ...issue.path.map(partOf)];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key]);
    return issue.code === "invalid_union" ? unknownIn(nearestBranch(issue.errors), path) : [];
  });
}

type Branch = readonly z.core.$ZodIssue[];

/**
 * Of several shapes, the one that would hold after the fewest fields are left out; none if something else is wrong with
 * each.
 */
function nearestBranch(branches: readonly Branch[]): Branch {
  const [nearest] = branches
    .map((issues) => ({ issues, count: countUnknown(issues) }))
    .filter(({ count }) => Number.isFinite(count))
    .toSorted((a, b) => a.count - b.count);
  return nearest?.issues ?? [];
}

/** Infinity if an issue is of another kind. */
function countUnknown(issues: Branch): number {
  let count = 0;
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") count += issue.keys.length;
    else if (issue.code === "invalid_union") count += Math.min(...issue.errors.map(countUnknown));
    else return Infinity;
  }
  return count;
}

type Tree = Map<string | number, Tree>;

/** A copy of the value without what stands at the paths. Maps keep having no prototype, lists their indexes. */
function without(
  value: unknown,
  paths: readonly Path[],
): { readonly value: unknown; readonly removed: readonly IgnoredField[] } {
  const tree: Tree = new Map();
  for (const path of paths) {
    let at = tree;
    for (const part of path) {
      const next: Tree = at.get(part) ?? new Map();
      at.set(part, next);
      at = next;
    }
  }
  const removed: IgnoredField[] = [];
  return { value: copy(value, tree, []), removed };

  function copy(from: unknown, cut: Tree, path: Path): unknown {
    if (Array.isArray(from)) return from.map((item: unknown, index) => child(item, index, cut, path));
    const made = Object.create(null) as Record<string, unknown>;
    for (const [key, part] of Object.entries(from as Readonly<Record<string, unknown>>)) {
      if (cut.get(key)?.size === 0) removed.push({ path: [...path, key], value: part });
      else made[key] = child(part, key, cut, path);
    }
    return made;
  }

  function child(part: unknown, key: string | number, cut: Tree, path: Path): unknown {
    const within = cut.get(key);
    return within ? copy(part, within, [...path, key]) : part;
  }
}
