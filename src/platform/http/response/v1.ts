/**
 * Routes of the v1 family: the scope is in the path, names have underscores, answers have no envelope, and headers
 * carry the totals of lists. Served below `/v1` and, for older clients, below `/pipeline/api/v1`. The header
 * `X-Platform-Account` or the query parameter `accountIdentifier` names the account.
 */
import { z } from "zod";
import type { Page } from "../../../core/page.ts";
import type { Answer, Call } from "../routes.ts";
import { pageNumber, pageSize } from "./pages.ts";

/** Both addresses of a v1 route, each with a suffix for the name of its operation. */
export const V1_BASES = [
  ["/v1", ""],
  ["/pipeline/api/v1", "-older"],
] as const;

/** The project of the path. */
export const v1Scope = ({
  params,
}: Pick<Call, "params">): { readonly orgIdentifier: string; readonly projectIdentifier: string } => ({
  orgIdentifier: params["org"] ?? "",
  projectIdentifier: params["project"] ?? "",
});

/** Pages count from 0. */
export const v1PageQuery = z.object({
  page: pageNumber.default(0),
  limit: pageSize().default(30),
});

/** The items alone; `X-Total-Elements`, `X-Page-Number` and `X-Page-Size` carry the totals. */
export async function v1Page<T>(page: Page<T>, wire: (item: T) => unknown): Promise<Answer> {
  return {
    kind: "json",
    status: 200,
    body: page.items.map((item) => wire(item)),
    headers: {
      "X-Total-Elements": String(await page.total()),
      "X-Page-Number": String(page.limit === 0 ? 0 : Math.floor(page.offset / page.limit)),
      "X-Page-Size": String(page.limit),
    },
  };
}
