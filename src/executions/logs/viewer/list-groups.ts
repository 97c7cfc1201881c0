/** Finds the lines of a log that begin or end a group, for a table of contents. */
import type { Actor } from "../../../core/actor.ts";
import type { MaybeInProject } from "../../../pipelines/index.ts";
import { openNodeLog, type NodeLogName, type ViewerDeps } from "./node-log.ts";
import { plainTextOf } from "./plain-text.ts";
import { scanPart, type Scanned } from "./scan-part.ts";

export const MOST_GROUPS = 1_000;
const LONGEST_TITLE = 256;

/** Beginnings of lines that scripts write for other systems, too. */
export const MARKERS = ["---", "+++", "~~~", "::group::", "::endgroup::"] as const;
export type Marker = (typeof MARKERS)[number];

export type LogGroup = { readonly number: number; readonly marker: Marker; readonly title: string };

export type GroupsOfLog = Scanned & { readonly groups: readonly LogGroup[] };

type Range = NodeLogName & { readonly from: number; readonly limit: number };

/** Throws as `openNodeLog`. */
export const listGroups =
  (deps: ViewerDeps) =>
  async (actor: Actor, id: string, scope: MaybeInProject, range: Range): Promise<GroupsOfLog> => {
    const log = await openNodeLog(deps, actor, id, scope, range);
    const groups: LogGroup[] = [];
    const scanned = await scanPart(deps.db, log, range.from, ({ bytes, line, beginsLine }) => {
      for (const { nth, ...group } of groupsIn(plainTextOf(bytes), beginsLine)) {
        groups.push({ number: line + nth, ...group });
        if (groups.length === range.limit) return { endsBehind: nth };
      }
      return undefined;
    });
    return { groups, ...scanned };
  };

export type ListGroups = ReturnType<typeof listGroups>;

const LINE = /^(?:(---|\+\+\+|~~~) |(::(?:end)?group::))(.*)/;
const FIRST_CHARACTERS = new Set(MARKERS.map((marker) => marker.charCodeAt(0)));
/** Longer than a marker with a title. */
const LOOKED_AT = LONGEST_TITLE + 16;

function* groupsIn(text: string, beginsLine: boolean): Generator<Omit<LogGroup, "number"> & { readonly nth: number }> {
  let nth = 0;
  for (let at = 0; at < text.length; nth += 1) {
    const isBegin = nth > 0 || beginsLine;
    const found =
      isBegin && FIRST_CHARACTERS.has(text.charCodeAt(at)) ? LINE.exec(text.slice(at, at + LOOKED_AT)) : null;
    if (found) yield { nth, ...groupOf(found) };
    const end = text.indexOf("\n", at);
    if (end === -1) return;
    at = end + 1;
  }
}

function groupOf([, dashes, command, title = ""]: RegExpExecArray): Omit<LogGroup, "number"> {
  const shown = title.trim().slice(0, LONGEST_TITLE).toWellFormed();
  return { marker: (dashes ?? command ?? "---") as Marker, title: shown };
}
