import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Problem } from "../core/problem.ts";
import type { Refusal } from "../core/refused.ts";
import type { PipelineDeps } from "./create.ts";
import { problem } from "./problems.ts";
import { viewRefusal } from "./seen.ts";
import { NOT_LISTED, type CompleteShown } from "./shown.ts";
import { listVariables, listVariablesSizes } from "./store/shown.ts";

/** Of one request: a typical variable has 120 bytes, and each is an object of the answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Bytes of variables that one request has asked for, and how often each counts. */
export type ReadBytes = { bytes: number; times: number };

/**
 * The variables of the newest versions of these pipelines, each as JSON, in the order of the ids; each repetition of an id
 * counts. Instead of the variables of one pipeline there is a problem: `pipeline.no_such_id`, `pipeline.variables_not_listed`,
 * or `pipeline.too_many_variables` where the request has no room for them. Small ones come first, so that large
 * pipelines of one author take no room from the others: what has at most its share of the room is always read.
 */
export type ListVariables = (
  actor: Actor,
  ids: readonly Uuid[],
  read: ReadBytes,
) => Promise<readonly (string | Problem)[]>;

export const makeListVariables =
  ({ db, completeShown }: Pick<PipelineDeps, "db"> & { readonly completeShown: CompleteShown }): ListVariables =>
  async (actor, ids, read) => {
    const { accountId } = actor;
    const sizes = new Map<Uuid, number>();
    const hidden = new Map<Uuid, Refusal>();
    for (const row of await listVariablesSizes(db, accountId, [...new Set(ids)])) {
      const refusal = viewRefusal(actor, row);
      if (refusal) hidden.set(row.id, refusal);
      if (refusal) continue;
      const bytes = row.bytes ?? Buffer.byteLength((await completeShown(accountId, row.id)).variables);
      sizes.set(row.id, bytes);
    }
    const refused = new Map<number, Problem>();
    const noRoom = problem("pipeline.too_many_variables");
    const sizeOf = (at: number): number => sizes.get(ids[at] as Uuid) ?? 0;
    for (const at of [...ids.keys()].toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
      const id = ids[at] as Uuid;
      const bytes = sizeOf(at) * read.times;
      if (!sizes.has(id)) refused.set(at, problem("pipeline.no_such_id", [toWire(id)], { refusal: hidden.get(id) }));
      else if (read.bytes + bytes > MAX_BYTES) refused.set(at, noRoom);
      else read.bytes += bytes;
    }
    const wanted = new Set(ids.filter((_id, at) => !refused.has(at)));
    const rows = await listVariables(db, accountId, [...wanted]);
    const texts = new Map(rows.map(({ id, variables }) => [id, variables]));
    return ids.map((id, at) => refused.get(at) ?? listed(texts.get(id) ?? "[]"));
  };

const listed = (text: string): string | Problem =>
  text === NOT_LISTED ? problem("pipeline.variables_not_listed") : text;
