import { leaveAuthorsIn } from "../../pipelines/index.ts";

export const leaveTriggers = leaveAuthorsIn({
  ...{ type: "TRIGGER_AUTHORITY", table: "triggers", id: "id", live: "k.deleted_at is null", what: "k.identifier" },
});
