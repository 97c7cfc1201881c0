import type { Summary } from "../../../components/execution-store.ts";

/** Rows of the first page, and those that were started since and wait to be shown. */
export type LiveRows = { readonly shown: readonly Summary[]; readonly waiting: readonly Summary[] };

/** The first page grows by what is started while it is open, up to this number. */
const MOST_ROWS = 200;

/** Changed executions take the place they have; the list never moves under the reader. */
export function updateRows(rows: LiveRows, changed: readonly Summary[], isListed: (row: Summary) => boolean): LiveRows {
  const byId = new Map(changed.map((row) => [row.planExecutionId, row]));
  const replace = (row: Summary): Summary => {
    const next = byId.get(row.planExecutionId);
    byId.delete(row.planExecutionId);
    return next ?? row;
  };
  const shown = rows.shown.map(replace);
  const waiting = rows.waiting.map(replace);
  const newest = shown[0];
  const added = [...byId.values()].filter((row) => isListed(row) && (!newest || startOf(row) >= startOf(newest)));
  return { shown, waiting: [...added, ...waiting].toSorted((one, other) => startOf(other) - startOf(one)) };
}

/** Shows what waits, above the others. */
export const showWaiting = ({ shown, waiting }: LiveRows): LiveRows =>
  waiting.length === 0 ? { shown, waiting } : { shown: [...waiting, ...shown].slice(0, MOST_ROWS), waiting: [] };

const startOf = ({ startTs, createdAt }: Summary): number => startTs ?? createdAt;
