/** What uses a thing that is to be deleted, as far as whoever asks may see it. */
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { scopeOf, type Referred } from "../core/reference.ts";
import { seen as seenIn } from "./permits.ts";

export type UserOfThing = Referred & {
  /** `SECRET`: a credential, which takes its password from another secret. */
  readonly type: "CONNECTOR" | "PIPELINE" | "SECRET";
};

/** The same while it is saved. Its id remains its own; its identifier is free for another once it is gone. */
export type Namer = UserOfThing & { readonly id: Uuid };

const VIEW = {
  CONNECTOR: "core_connector_view",
  PIPELINE: "core_pipeline_view",
  SECRET: "core_secret_view",
} as const;
const TOLD = 5;

/** "pipeline a of project p, connector b and 3 more and 2 that you may not see". */
export function usersTold(actor: Actor, users: readonly UserOfThing[]): string {
  const seen = users.filter((user) => isSeen(actor, user));
  const told = seen.slice(0, TOLD).map(({ type, identifier, projectIdentifier }) => {
    return `${type.toLowerCase()} ${identifier}${projectIdentifier === null ? "" : ` of project ${projectIdentifier}`}`;
  });
  const [more, hidden] = [seen.length - told.length, users.length - seen.length];
  const parts = [
    ...(told.length > 0 ? [told.join(", ")] : []),
    ...(more > 0 ? [`${more} more`] : []),
    ...(hidden > 0 ? [`${hidden} that you may not see`] : []),
  ];
  return parts.join(" and ");
}

/** Not `permits`: the trail would take what is hidden here for the reason of the answer. */
function isSeen(actor: Actor, user: UserOfThing): boolean {
  const which = seenIn(actor, VIEW[user.type], scopeOf(actor.accountId, user));
  return which === "all" || which.has(user.identifier);
}
