/** Query parameters that many routes share. Unknown parameters are ignored, as clients of this API family expect. */
import { z } from "zod";
import { BEYOND_DATES, LAST_MOMENT } from "../../document/moments.ts";
import { SORT_FIELDS, type SortField, type SortOrder } from "../../../core/page.ts";

const one = (name: string) =>
  z.string({ error: (issue) => (issue.input === undefined ? "is required" : `${name} is given twice`) });

/** A required organization. */
export const orgQuery = z.object({ orgIdentifier: one("orgIdentifier").min(1, "is required") });
/** A required organization and project. */
export const projectQuery = orgQuery.extend({ projectIdentifier: one("projectIdentifier").min(1, "is required") });
/** Both are optional. A project without an organization is valid here; `RequireScope` refuses it. */
export const maybeProjectQuery = z.object({
  orgIdentifier: one("orgIdentifier").min(1).optional(),
  projectIdentifier: one("projectIdentifier").min(1).optional(),
});

/** The sum of two such numbers is still exact. */
const MOST = 999_999_999_999_999;

/** A whole number from 0; the text contains only digits. */
export const wholeNumber = (most = MOST) =>
  z
    .string()
    .regex(/^\d{1,32}$/, "takes a whole number from 0")
    .transform(Number)
    .pipe(z.number().max(most, `takes at most ${most}`));

/** A time in epoch milliseconds; the text contains only digits. */
export const moment = () =>
  z
    .string()
    .regex(/^\d{1,32}$/, "takes a moment in epoch milliseconds")
    .transform(Number)
    .pipe(z.number().max(LAST_MOMENT, BEYOND_DATES));

/** An optional text; a repeated parameter is rejected. */
export const maybeText = (name: string) => one(name).max(1_024, "takes at most 1024 characters").optional();

/** A boolean; false by default. */
export const flag = z
  .enum(["true", "false"], { error: "takes true or false" })
  .default("false")
  .transform((text) => text === "true");

/** An optional text that may be repeated. */
export const maybeTexts = (name: string) =>
  z
    .union([one(name).max(1_024), z.array(z.string().max(1_024)).max(100)])
    .transform((given) => (typeof given === "string" ? [given] : given))
    .optional();

const sorted = (fields: readonly SortField[]) =>
  z
    .string()
    .max(64, "takes at most 64 characters")
    .regex(new RegExp(`^(${fields.join("|")}),(ASC|DESC)$`), {
      error: ({ input }) => `cannot be [${input}]: it takes one of ${fields.join(", ")}, a comma, and ASC or DESC`,
    });

/** `name,DESC`; of several, the first is the primary order. */
export const sortOrders = (fields: readonly SortField[] = SORT_FIELDS) =>
  z
    .union([sorted(fields), z.array(sorted(fields))])
    .transform((given) => (typeof given === "string" ? [given] : given).map(orderOf))
    .refine((given) => new Set(given.map(({ field }) => field)).size === given.length, {
      error: "names a field twice",
      path: [1],
    })
    .optional();

function orderOf(text: string): SortOrder {
  const [field, direction] = text.split(",");
  return { field: field as SortOrder["field"], descending: direction === "DESC" };
}
