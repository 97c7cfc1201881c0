import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { PipelineDeps } from "./create.ts";
import { problem } from "./problems.ts";
import { isSeen } from "./seen.ts";
import type { CompleteShown } from "./shown.ts";
import { listVariables, listVariablesSizes } from "./store/shown.ts";

/** Of one request: a typical variable has 120 bytes, and each is an object of the answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Bytes of variables that one request has asked for, and how often each counts. */
export type ReadBytes = { bytes: number; times: number };

/**
 * The variables of the newest versions of these pipelines, each as JSON, in the order of the ids; each repetition of an id
 * counts. Throws `pipeline.no_such_id`, and `pipeline.too_many_variables` before it reads more than a request may ask for.
 */
export type ListVariables = (actor: Actor, ids: readonly Uuid[], read: ReadBytes) => Promise<readonly string[]>;

export const makeListVariables =
  ({ db, completeShown }: Pick<PipelineDeps, "db"> & { readonly completeShown: CompleteShown }): ListVariables =>
  async (actor, ids, read) => {
    const { accountId } = actor;
    const rows = await listVariablesSizes(db, accountId, [...new Set(ids)]);
    const seen = new Map(rows.filter((row) => isSeen(actor, row)).map((row) => [row.id, row]));
    const times = Map.groupBy(ids, (id) => id);
    for (const id of times.keys()) if (!seen.has(id)) throw problem("pipeline.no_such_id", [toWire(id)]);
    const count = (id: Uuid, bytes: number): void => {
      read.bytes += bytes * read.times * (times.get(id)?.length ?? 1);
      if (read.bytes > MAX_BYTES) throw problem("pipeline.too_many_variables");
    };
    const texts = new Map<Uuid, string>();
    for (const { id, bytes } of seen.values()) if (bytes !== null) count(id, bytes);
    for (const { id, bytes } of seen.values()) {
      if (bytes !== null) continue;
      const { variables } = await completeShown(accountId, id);
      count(id, Buffer.byteLength(variables));
      texts.set(id, variables);
    }
    const stored = [...seen.keys()].filter((id) => !texts.has(id));
    for (const { id, variables } of await listVariables(db, accountId, stored)) texts.set(id, variables);
    return ids.map((id) => texts.get(id) ?? "[]");
  };
