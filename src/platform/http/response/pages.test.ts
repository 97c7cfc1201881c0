import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { Problem } from "../../../core/problem.ts";
import { ifMatch } from "../request/if-match.ts";
import { ngPage, ngPageQuery, ngPageShape, springPage, springPageQuery, springPageShape } from "./pages.ts";

const page = (items: readonly number[], offset: number, limit: number, total: number) => ({
  items,
  offset,
  limit,
  total: async () => total,
});
const double = (n: number): number => n * 2;

test("a page of the ng family: which one, of how many, and whether it is empty", async () => {
  const found = await ngPage(page([3, 4], 2, 2, 5), double);
  assert.deepEqual(found, {
    totalPages: 3,
    totalItems: 5,
    pageItemCount: 2,
    pageSize: 2,
    content: [6, 8],
    pageIndex: 1,
    empty: false,
    pageToken: null,
  });
  assert.ok(ngPageShape(z.int()).safeParse(found).success);
  const none = await ngPage(page([], 0, 0, 5), double);
  assert.deepEqual([none.totalPages, none.pageIndex, none.empty], [0, 0, true]);
});

test("a page of the pipeline family knows the first and the last", async () => {
  const first = await springPage(page([1, 2], 0, 2, 3), double);
  assert.deepEqual([first.first, first.last, first.number, first.totalPages], [true, false, 0, 2]);
  assert.ok(springPageShape(z.int()).safeParse(first).success);
  const last = await springPage(page([3], 2, 2, 3), double);
  assert.deepEqual([last.first, last.last, last.number, last.numberOfElements], [false, true, 1, 1]);
  assert.deepEqual(last.pageable, { offset: 2, pageNumber: 1, pageSize: 2, paged: true, unpaged: false });
});

test("pages are asked for in digits, within bounds", () => {
  assert.deepEqual(ngPageQuery(50).parse({}), { pageIndex: 0, pageSize: 50 });
  assert.deepEqual(springPageQuery(10).parse({ page: "2", size: "1000" }), { page: 2, size: 1000 });
  for (const size of ["1001", "-1", "x", "", "1.5"]) assert.ok(!ngPageQuery(50).safeParse({ pageSize: size }).success);
});

test("If-Match: the bare number of this API family, and the entity tags of HTTP", () => {
  const asked = (value?: string | string[]) => ifMatch({ headers: { "if-match": value } });
  assert.deepEqual([asked("3"), asked('"3"'), asked('W/"3"'), asked("*"), asked()], [3, 3, 3, undefined, undefined]);
  for (const bad of ["", "x", '"1", "2"', "-1", "1e3", ["1", "2"]])
    assert.throws(
      () => asked(bad),
      (error: unknown) => error instanceof Problem && error.code === "http.bad_if_match",
    );
});

test("a page beyond all pages is refused with the last one, however many digits it has", () => {
  for (const pageIndex of ["99999999", "9".repeat(15), "9".repeat(16), "9".repeat(32)]) {
    const { error } = ngPageQuery(50).safeParse({ pageIndex });
    assert.match(error?.issues[0]?.message ?? "", /^takes at most \d+$/, pageIndex);
  }
  assert.match(
    ngPageQuery(50).safeParse({ pageIndex: "-1" }).error?.issues[0]?.message ?? "",
    /^takes a whole number from 0$/,
  );
});
