import type { SortField, SortOrder } from "../../core/page.ts";
import { UNPREPARED } from "./pool/statements.ts";

/** All fields that a request can order by. A list supports those that its table has. */
const COLUMNS: Readonly<Record<SortField, string>> = {
  name: "name",
  identifier: "identifier",
  createdAt: "created_at",
  lastModifiedAt: "updated_at",
  email: "email",
  timestamp: "at",
};

/** Returns the requested order or the default one. The id comes last, so that pages do not overlap. */
export const orderBy = (
  order: readonly SortOrder[] | undefined,
  defaultField: SortField,
  columns: Partial<typeof COLUMNS> = {},
): string =>
  [
    ...(order ?? [{ field: defaultField, descending: false }]).map(
      ({ field, descending }) => `${columns[field] ?? COLUMNS[field]} ${descending ? "desc" : "asc"}`,
    ),
    "id",
  ].join(", ");

/** Prefix of an unnamed statement: the many possible orders would use up the names of prepared statements. */
export const statementPrefix = (order: readonly SortOrder[] | undefined): string =>
  order === undefined ? "" : UNPREPARED;
