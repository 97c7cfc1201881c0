import type { SortField, SortOrder } from "../../core/page.ts";
import { UNPREPARED } from "./pool/statements.ts";

/** All that a request can bring into an order. A list takes those of them that its table has. */
const COLUMNS: Readonly<Record<SortField, string>> = {
  name: "name",
  identifier: "identifier",
  createdAt: "created_at",
  lastModifiedAt: "updated_at",
  email: "email",
  timestamp: "at",
};

/** The order asked for, or else the usual one; the id last, so that no page shows a row of another. */
export const orderBy = (
  order: readonly SortOrder[] | undefined,
  usual: SortField,
  columns: Partial<typeof COLUMNS> = {},
): string =>
  [
    ...(order ?? [{ field: usual, descending: false }]).map(
      ({ field, descending }) => `${columns[field] ?? COLUMNS[field]} ${descending ? "desc" : "asc"}`,
    ),
    "id",
  ].join(", ");

/** Goes before the statement: orders that people choose are many, and would use up the names of prepared statements. */
export const planned = (order: readonly SortOrder[] | undefined): string => (order === undefined ? "" : UNPREPARED);
