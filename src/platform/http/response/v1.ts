/**
 * Routes of the v1 family: the scope stands in the path, names are written with underscores, answers have no envelope, and
 * lists tell their totals in headers. Served below `/v1` and, for older clients, below `/pipeline/api/v1`. The account is
 * named by the header `X-Platform-Account` or by the query parameter `accountIdentifier`.
 */
import { z } from "zod";
import type { Page } from "../../../core/page.ts";
import { wholeNumber } from "../request/queries.ts";
import type { Answer, Call } from "../routes.ts";

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
  page: wholeNumber(1_000_000).default(0),
  limit: wholeNumber(1_000).default(30),
});

/** The items alone; the totals stand in `X-Total-Elements`, `X-Page-Number` and `X-Page-Size`. */
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
