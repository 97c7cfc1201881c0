/** What lists show of a version beside its columns. It is computed when the version is saved, so that no list parses YAML. */
import { setImmediate } from "node:timers/promises";
import type { Uuid } from "../core/ids.ts";
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

/** Throws `pipeline.variables_too_long`. */
export function shownOf(document: PipelineDocument): Shown {
  const variables = JSON.stringify(variablesOf(document));
  if (Buffer.byteLength(variables) > MAX_VARIABLES_BYTES) throw problem("pipeline.variables_too_long");
  return { stageNames: stageNamesOf(document), variables };
}

/** Of a newest version that an older server has saved: computed once, and stored. */
export type CompleteShown = (accountId: Uuid, pipelineId: Uuid) => Promise<Shown>;

export const makeCompleteShown =
  ({ db }: { readonly db: Pick<Db, "query"> }): CompleteShown =>
  async (accountId, pipelineId) => {
    const saved = await findNewest(db, accountId, pipelineId);
    if (!saved) return { stageNames: [], variables: "[]" };
    // To parse a document takes up to 60 ms: other requests run between the documents of a list.
    await setImmediate();
    const shown = shownOf(validate(pipelineSchema("saved"), parseDocument(saved.yaml), { root: "pipeline" }));
    await saveShown(db, accountId, { pipelineId, version: saved.version }, shown);
    return shown;
  };
