/** What lists show of a version beside its columns. It is computed when the version is saved, so that no list parses YAML. */
import { setImmediate } from "node:timers/promises";
import type { Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Db } from "../platform/db/db.ts";
import { parseDocument } from "../platform/document/document.ts";
import { validate } from "../platform/document/validate.ts";
import { pipelineSchema, type PipelineDocument } from "./document/index.ts";
import type { Shown } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { findNewest, saveShown } from "./store/shown.ts";
import { stageNamesOf } from "./text.ts";
import { variablesOf } from "./variables.ts";

/** Aliases can repeat a long value fifty times; a document without them does not reach this. */
const MAX_VARIABLES_BYTES = 1024 * 1024;

/** Stored as the variables of a version that an older server has saved and whose variables cannot be listed. */
export const NOT_LISTED = "null";

/** Throws `pipeline.variables_too_long`. */
export function shownOf(document: PipelineDocument): Shown {
  const shown = allOf(document);
  if (isTooLong(shown)) throw problem("pipeline.variables_too_long");
  return shown;
}

const allOf = (document: PipelineDocument): Shown => ({
  stageNames: stageNamesOf(document),
  variables: JSON.stringify(variablesOf(document)),
});

const isTooLong = ({ variables }: Shown): boolean => Buffer.byteLength(variables) > MAX_VARIABLES_BYTES;

/** Of a newest version that an older server has saved: computed once, and stored, also where it cannot be listed. */
export type CompleteShown = (accountId: Uuid, pipelineId: Uuid) => Promise<Shown>;

export const makeCompleteShown =
  ({ db }: { readonly db: Pick<Db, "query"> }): CompleteShown =>
  async (accountId, pipelineId) => {
    const saved = await findNewest(db, accountId, pipelineId);
    if (!saved) return { stageNames: [], variables: "[]" };
    // To parse a document takes up to 60 ms: other requests run between the documents of a list.
    await setImmediate();
    const shown = savedShown(saved.yaml);
    await saveShown(db, accountId, { pipelineId, version: saved.version }, shown);
    return shown;
  };

/** Rules for documents may have become stricter since this one was saved. It must not take its list with it. */
function savedShown(yaml: string): Shown {
  try {
    const shown = allOf(validate(pipelineSchema("saved"), parseDocument(yaml), { root: "pipeline" }));
    return isTooLong(shown) ? { ...shown, variables: NOT_LISTED } : shown;
  } catch (error) {
    if (error instanceof Problem) return { stageNames: [], variables: NOT_LISTED };
    throw error;
  }
}
