/**
 * Pages of REST lists, in the two shapes that most of this API family has: `pageIndex` and `pageSize` (ng, authz,
 * audit), `page` and `size` (pipeline). Pages count from 0. Other shapes:
 * - v1 routes: `page` and `limit`, with the totals in headers (v1.ts)
 * - input sets: both pairs of names (src/pipelines/input-sets/rest.ts)
 * - outlines of executions: `size` and a cursor (src/executions/rest-read.ts)
 * - events of triggers: `size` and `pageToken` (src/triggers/deliveries/rest.ts)
 * - SCIM: `startIndex`, from 1, and `count`, with a maximum of its own (src/scim/list.ts)
 */
import { z } from "zod";
import type { Page, SortField, SortOrder, Window } from "../../../core/page.ts";
import { sortOrders, wholeNumber } from "../request/queries.ts";

/** The largest page, if the list does not choose a smaller one. */
const MAX_SIZE = 1_000;
/** Limit of the page number: beyond it PostgreSQL would count rows for too long. */
const MAX_INDEX = 1_000_000;

/** A page number, from 0. */
export const pageNumber = wholeNumber(MAX_INDEX);
/** A page size up to `max`. */
export const pageSize = (max = MAX_SIZE) => wholeNumber(max);

/** `pageIndex` and `pageSize` of the families ng, authz and audit, with the default size and the largest one. */
export const ngPageQuery = (size: number, max = MAX_SIZE) =>
  z.object({ pageIndex: pageNumber.default(0), pageSize: pageSize(max).default(size) });

/** The same for lists with a selectable order, by these fields: `sortOrders=name,DESC`. */
export const sortedPageQuery = (size: number, fields?: readonly SortField[]) =>
  ngPageQuery(size).extend({ sortOrders: sortOrders(fields) });

type NgPaging = {
  readonly pageIndex: number;
  readonly pageSize: number;
  readonly sortOrders?: readonly SortOrder[] | undefined;
};

/** The window that a query of `ngPageQuery` or `sortedPageQuery` asks for. */
export const ngWindow = ({ pageIndex, pageSize, sortOrders: order }: NgPaging): Window => ({
  limit: pageSize,
  offset: pageIndex * pageSize,
  order,
});

/** `page` and `size` of the pipeline family, with the default size and the largest one. */
export const springPageQuery = (size: number, max = MAX_SIZE) =>
  z.object({ page: pageNumber.default(0), size: pageSize(max).default(size) });

const pagesOf = (total: number, size: number): number => (size === 0 ? 0 : Math.ceil(total / size));
const indexOf = ({ offset, limit }: Page<unknown>): number => (limit === 0 ? 0 : Math.floor(offset / limit));

/** The page of the families ng, authz and audit; counts the total. */
export async function ngPage<T, W>(page: Page<T>, wire: (item: T) => W) {
  const totalItems = await page.total();
  return {
    totalPages: pagesOf(totalItems, page.limit),
    totalItems,
    pageItemCount: page.items.length,
    pageSize: page.limit,
    content: page.items.map((item) => wire(item)),
    pageIndex: indexOf(page),
    empty: page.items.length === 0,
    pageToken: null,
  };
}

/** The schema of what `ngPage` returns. */
export const ngPageShape = (item: z.ZodType) =>
  z.strictObject({
    totalPages: z.int(),
    totalItems: z.int(),
    pageItemCount: z.int(),
    pageSize: z.int(),
    content: z.array(item),
    pageIndex: z.int(),
    empty: z.boolean(),
    pageToken: z.null(),
  });

/** The page of the pipeline family; counts the total. */
export async function springPage<T, W>(page: Page<T>, wire: (item: T) => W) {
  const totalElements = await page.total();
  const totalPages = pagesOf(totalElements, page.limit);
  const number = indexOf(page);
  return {
    totalPages,
    totalElements,
    sort: { sorted: true, unsorted: false, empty: false },
    first: number === 0,
    last: number + 1 >= totalPages,
    numberOfElements: page.items.length,
    pageable: { offset: page.offset, pageNumber: number, pageSize: page.limit, paged: true, unpaged: false },
    size: page.limit,
    content: page.items.map((item) => wire(item)),
    number,
    empty: page.items.length === 0,
  };
}

/** The schema of what `springPage` returns. */
export const springPageShape = (item: z.ZodType) =>
  z.strictObject({
    totalPages: z.int(),
    totalElements: z.int(),
    sort: z.strictObject({ sorted: z.boolean(), unsorted: z.boolean(), empty: z.boolean() }),
    first: z.boolean(),
    last: z.boolean(),
    numberOfElements: z.int(),
    pageable: z.strictObject({
      offset: z.int(),
      pageNumber: z.int(),
      pageSize: z.int(),
      paged: z.boolean(),
      unpaged: z.boolean(),
    }),
    size: z.int(),
    content: z.array(item),
    number: z.int(),
    empty: z.boolean(),
  });
