import type { TriggersOf } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import { bodyOf, inputOf } from "./document.ts";
import { findTriggersOf } from "./store.ts";

/** What the triggers of a pipeline run it with: whoever changes the pipeline has to hold what they use. */
export const makeTriggersOf =
  ({ db }: { readonly db: Pick<Db, "query"> }): TriggersOf =>
  async (accountId, pipelineId) =>
    (await findTriggersOf(db, accountId, pipelineId)).map((trigger) => {
      const body = bodyOf(trigger);
      const { identifier, authority } = trigger;
      return { identifier, authority, inputSetRefs: body.inputSetRefs ?? [], inputs: inputOf(body) };
    });
