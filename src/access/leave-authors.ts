import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Gone } from "../platform/gone.ts";
import type { Nameable } from "./permission.ts";

/** What a run uses, and what is kept of its authors therefore names (decision 0018). */
export type Usable = Extract<Nameable, "SECRET" | "CONNECTOR" | "ENVIRONMENT" | "SERVICE">;

/**
 * Takes a thing that is being deleted out of what is kept of authors' grants, as `LeaveGroups` takes it out of the groups that these
 * came of: what another one of its identifier is used for, its author has to be granted anew. To be called by every deletion
 * of something usable, first of all in its transaction: whoever holds a trigger, a pipeline or an input set may wait for what it
 * names, and for groups, and a project that goes takes them in this order, too. Answers, for the trail, whose grants named it.
 */
export type LeaveAuthors = (
  tx: Tx,
  accountId: Uuid,
  thing: Referred & { readonly type: Usable },
) => Promise<readonly Gone[]>;
