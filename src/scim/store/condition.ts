/**
 * Compiles a filter into an SQL condition. Values are parameters; only texts of `columns.ts` become part of the
 * statement.
 */
import { fromWire } from "../../core/ids.ts";
import type { Comparison, Filter, Literal } from "../filter/syntax.ts";
import { badFilter, badSort, type Complain } from "../filter/tokens.ts";
import { named, type ResourceType } from "../schema/attribute.ts";
import { columnOf, elementColumn, scalar, wireOf, type Column } from "./columns.ts";

/** Adds a value to the statement and returns its placeholder. */
export type Param = (value: unknown) => string;
type Look = (path: Extract<Filter, { kind: "present" }>["path"]) => Column;

export const conditionOf = (type: ResourceType, filter: Filter, param: Param): string =>
  compile(filter, (path) => columnOf(type, path), param);

/** A comparison with a missing value is unknown, so that indexes work; `not` treats unknown as false. */
function compile(filter: Filter, look: Look, param: Param): string {
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${compile(filter.left, look, param)} ${filter.kind} ${compile(filter.right, look, param)})`;
    case "not":
      return `(not coalesce(${compile(filter.of, look, param)}, false))`;
    case "present":
      return present(look(filter.path));
    case "compare":
      return compare(look(filter.path), filter, param);
    case "some": {
      const list = look(filter.path);
      if (list.kind === "none") return "false";
      if (list.kind !== "list") throw badFilter(`${filter.path.name} is no list`);
      return some(
        list,
        compile(filter.of, (path) => elementColumn(list, path), param),
      );
    }
  }
}

const some = ({ from }: { readonly from: string }, condition: string): string =>
  `exists (select 1 from (${from}) as s where ${condition})`;

/** The column of one value of a list: the named part, or `value`. */
function valueOf({ of }: Extract<Column, { kind: "list" }>, complain: Complain = badFilter): Column {
  const value = of.subAttributes ? named(of.subAttributes, "value") : of;
  if (!value) throw complain(`${of.name} has no value: name one of its parts`);
  return scalar(value, `(s.e ->> '${value.name}')`);
}

function present(column: Column): string {
  switch (column.kind) {
    case "text":
      return `(coalesce(${column.sql}, '') <> '')`;
    case "list":
      return column.of.multiValued ? some(column, "true") : some(column, present(valueOf(column)));
    case "none":
      return "false";
    case "parts":
      return `(${column.of.map(present).join(" or ")})`;
    case "boolean":
    case "time":
    case "number":
    case "id":
      return `(${column.sql} is not null)`;
  }
}

/** The right side of a comparison. */
type Operand<T = Literal> = { readonly by: Comparison; readonly value: T };

function compare(column: Column, operand: Operand, param: Param): string {
  const { by, value } = operand;
  if (value === null) {
    if (by !== "eq" && by !== "ne") throw badFilter("null is equal to what is not there, or not, and no more");
    return by === "eq" ? `(not ${present(column)})` : present(column);
  }
  switch (column.kind) {
    case "text":
      return compareText(column, { by, value: textOf(value) }, param);
    case "boolean":
      return compareBoolean(column.sql, operand, param);
    case "time":
      return ordered(column.sql, by, `${param(timeOf(value))}::bigint`);
    case "number":
      if (typeof value !== "number") throw badFilter("a number is compared with numbers");
      return ordered(column.sql, by, `${param(value)}::numeric`);
    case "id":
      return compareId(column.sql, { by, value: textOf(value) }, param);
    case "list":
      return some(column, compare(valueOf(column), operand, param));
    case "parts":
      if (!column.value) throw badFilter("name one of the parts");
      return compare(column.value, operand, param);
    case "none":
      return by === "ne" ? "true" : "false";
  }
}

const SIGNS = { eq: "is not distinct from", ne: "is distinct from", gt: ">", ge: ">=", lt: "<", le: "<=" } as const;

function ordered(sql: string, by: Comparison, value: string): string {
  if (by === "co" || by === "sw" || by === "ew") throw badFilter(`${by} is for texts`);
  return `(${sql} ${SIGNS[by]} ${value})`;
}

type TextColumn = Extract<Column, { kind: "text" }>;

function compareText({ sql, exact, fold }: TextColumn, { by, value }: Operand<string>, param: Param): string {
  const given = `${param(fold ? fold(value) : value)}::text`;
  const [left, right] = exact ? [sql, given] : [`lower(${sql})`, `lower(${given})`];
  switch (by) {
    case "eq":
      return `(${left} = ${right})`;
    case "co":
      return `(position(${right} in ${left}) > 0)`;
    case "sw":
      return `(starts_with(${left}, ${right}))`;
    case "ew":
      return `(right(${left}, length(${right})) = ${right})`;
    case "ne":
      return `(${left} is distinct from ${right})`;
    case "gt":
    case "ge":
    case "lt":
    case "le":
      return `(${left} collate "C" ${SIGNS[by]} ${right} collate "C")`;
  }
}

function compareBoolean(sql: string, { by, value }: Operand, param: Param): string {
  // Entra writes "True".
  const given = typeof value === "string" ? { true: true, false: false }[value.toLowerCase()] : value;
  if ((by !== "eq" && by !== "ne") || typeof given !== "boolean")
    throw badFilter("true and false are compared with eq and ne");
  return ordered(`coalesce(${sql}, false)`, by, `${param(given)}::boolean`);
}

function compareId(sql: string, operand: Operand<string>, param: Param): string {
  const { by, value } = operand;
  if (by !== "eq") return compareText({ kind: "text", sql: wireOf(sql), exact: true }, operand, param);
  const id = fromWire(value);
  return id === undefined ? "false" : `(${sql} = ${param(id)}::uuid)`;
}

function textOf(value: Exclude<Literal, null>): string {
  if (typeof value !== "string") throw badFilter("a text is compared with texts in double quotes");
  // PostgreSQL texts contain no NUL, so such a text matches nothing.
  if (value.includes("\0")) throw badFilter("no text holds NUL");
  return value;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

function timeOf(value: Exclude<Literal, null>): number {
  const at = typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw badFilter('a time is compared with times, as in "2026-01-31T10:00:00Z"');
  return at;
}

/** The sort expression. Throws `scim.invalid_sort`. */
export function orderOf(column: Column): string {
  switch (column.kind) {
    case "text":
      return column.exact ? column.sql : `lower(${column.sql})`;
    case "list": {
      const value = valueOf(column, badSort);
      const first = `order by coalesce((s.e ->> 'primary')::boolean, false) desc limit 1`;
      return `(select ${orderOf(value)} from (${column.from}) as s ${first})`;
    }
    case "parts":
    case "none":
      throw badSort("name the part to sort by");
    case "boolean":
    case "time":
    case "number":
    case "id":
      return column.sql;
  }
}
