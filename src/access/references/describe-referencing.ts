/** Describes the resources that reference a resource, as far as the actor may view them. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import { permits } from "../grants/permits.ts";

export type ReferencingResource = Referred & {
  /** `SECRET`: a credential, which takes its password from another secret. */
  readonly type: "CONNECTOR" | "PIPELINE" | "SECRET";
};

/** A referencing resource while it is saved. Its id is permanent; its identifier can be reused after its deletion. */
export type ReferenceSource = ReferencingResource & { readonly id: Uuid };

const VIEW = {
  CONNECTOR: "core_connector_view",
  PIPELINE: "core_pipeline_view",
  SECRET: "core_secret_view",
} as const;
const TOLD = 5;

/** For example "pipeline a of project p, connector b and 3 more and 2 that you may not see". */
export function describeReferencing(actor: Actor, users: readonly ReferencingResource[]): string {
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

export const isSeen = (actor: Actor, user: ReferencingResource): boolean =>
  permits(actor, VIEW[user.type], scopeOf(actor.accountId, user), user.identifier);
