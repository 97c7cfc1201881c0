import type { Place } from "../../core/reference.ts";
import type { Call } from "../../platform/http/routes.ts";

export const PATH = "/ng/api/connectors";

export type ScopedCall = Call<{
  readonly orgIdentifier?: string | undefined;
  readonly projectIdentifier?: string | undefined;
}>;

export const placeOf = ({ query }: Pick<ScopedCall, "query">): Place => ({
  orgIdentifier: query.orgIdentifier ?? null,
  projectIdentifier: query.projectIdentifier ?? null,
});
