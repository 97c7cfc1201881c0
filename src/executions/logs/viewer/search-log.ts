/** Finds the lines of a log that contain a text. Escape sequences of terminals do not count. */
import type { Actor } from "../../../core/actor.ts";
import type { MaybeInProject } from "../../../pipelines/index.ts";
import { openNodeLog, type NodeLogName, type ViewerDeps } from "./node-log.ts";
import { plainTextOf } from "./plain-text.ts";
import { scanPart, type Scanned } from "./scan-part.ts";

export const MOST_HITS = 10_000;

export type Search = NodeLogName & {
  readonly text: string;
  readonly caseSensitive: boolean;
  /** A byte offset: where the answer before has ended. */
  readonly from: number;
  readonly limit: number;
};

export type SearchResult = Scanned & {
  /** Numbers of lines, in their order. */
  readonly hits: readonly number[];
};

/** Throws as `openNodeLog`. */
export const searchLog =
  (deps: ViewerDeps) =>
  async (actor: Actor, id: string, scope: MaybeInProject, search: Search): Promise<SearchResult> => {
    const log = await openNodeLog(deps, actor, id, scope, search);
    const { caseSensitive, limit, from } = search;
    const fold = (text: string): string => (caseSensitive ? text : text.toLowerCase());
    const wanted = fold(search.text);
    const hits: number[] = [];
    const scanned = await scanPart(deps.db, log, from, ({ bytes, line }) => {
      for (const nth of linesWith(fold(plainTextOf(bytes)), wanted)) {
        // A part of a long line may have been looked through twice.
        if (line + nth === hits.at(-1)) continue;
        hits.push(line + nth);
        if (hits.length === limit) return { endsBehind: nth };
      }
      return undefined;
    });
    return { hits, ...scanned };
  };

export type SearchLog = ReturnType<typeof searchLog>;

/** The lines that contain the text, counted from 0. */
function* linesWith(text: string, wanted: string): Generator<number> {
  let [line, counted] = [0, 0];
  for (let at = text.indexOf(wanted); at !== -1;) {
    for (let feed = text.indexOf("\n", counted); feed !== -1 && feed < at; feed = text.indexOf("\n", counted)) {
      line += 1;
      counted = feed + 1;
    }
    yield line;
    const end = text.indexOf("\n", at);
    if (end === -1) return;
    at = text.indexOf(wanted, end + 1);
  }
}
