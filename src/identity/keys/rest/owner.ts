/** Shared by the routes of keys and tokens. The owner is in the query, in the body, or in both. */
import { z } from "zod";
import { toWire } from "../../../core/ids.ts";
import { problem as httpProblem } from "../../../platform/http/problems.ts";
import { maybeProjectQuery, maybeText, maybeTexts } from "../../../platform/http/request/queries.ts";
import type { Call } from "../../../platform/http/routes.ts";
import { agree } from "../../problems.ts";
import type { ParentRef } from "../api-key.ts";
import { apiKeyType, type Home } from "../wire.ts";

const fields = { apiKeyType: apiKeyType.optional(), parentIdentifier: maybeText("parentIdentifier") };

/** The query of routes with a body: it may repeat fields of the body. */
export const repeating = maybeProjectQuery.extend(fields);

/** The query of routes without a body. */
export const naming = maybeProjectQuery.extend({
  ...fields,
  apiKeyType: z.enum(["USER", "SERVICE_ACCOUNT"], {
    error: ({ input }) => (input === undefined ? "is required" : "is USER or SERVICE_ACCOUNT"),
  }),
});

export const searching = { searchTerm: maybeText("searchTerm"), identifiers: maybeTexts("identifiers") };

type Asked = Pick<Call<z.output<typeof repeating>>, "accountId" | "query">;

/** The owner named by the body, or else by the query. Throws `identity.disagreement` if both name different ones. */
export function parentOf({ accountId, query }: Asked, body: Home = {}): ParentRef {
  if ((body.accountIdentifier ?? toWire(accountId)) !== toWire(accountId)) throw httpProblem("http.not_yours");
  const one = (field: keyof Home & keyof typeof query): string | undefined => {
    const [here, there] = [body[field] ?? undefined, query[field]];
    if (here !== undefined && there !== undefined) agree(field, here, there);
    return here ?? there;
  };
  const type = one("apiKeyType") as ParentRef["type"] | undefined;
  if (type === undefined) throw httpProblem("http.bad_query", ["apiKeyType is required."]);
  return {
    type,
    parentIdentifier: one("parentIdentifier"),
    orgIdentifier: one("orgIdentifier") ?? null,
    projectIdentifier: one("projectIdentifier") ?? null,
  };
}

export const pathIdentifier = ({ params }: Pick<Call, "params">): string => params["identifier"] ?? "";
