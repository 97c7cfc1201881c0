import type { ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { Checkbox } from "./checkbox.tsx";
import { Icon } from "./icon.tsx";
import { Skeleton } from "./skeleton.tsx";
import styles from "./table.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

export type Column<Row> = {
  readonly key: string;
  readonly header: string;
  /** The header is only read out, as above buttons. */
  readonly hideHeader?: boolean;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "end";
  /** A CSS length. Columns without one share the rest. */
  readonly width?: string;
  /** The cell names the row. Its first link covers the whole row. */
  readonly isTitle?: boolean;
  /** The name of the column in `sort`. */
  readonly sortKey?: string;
  /** Left out of the cards on narrow screens. */
  readonly wideOnly?: boolean;
};

export type Sort = { readonly key: string; readonly direction: "ascending" | "descending" };

export type Selection = {
  readonly selected: ReadonlySet<string>;
  readonly onChange: (selected: ReadonlySet<string>) => void;
};

type TableProps<Row> = {
  /** What the rows are. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are being loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** Names the row in the label of its checkbox. */
  readonly rowLabel?: ((row: Row) => string) | undefined;
  readonly density?: "normal" | "compact" | undefined;
  readonly sort?: Sort | undefined;
  readonly onSort?: ((sort: Sort) => void) | undefined;
  readonly selection?: Selection | undefined;
  /** Stands in place of the rows if there are none. */
  readonly empty?: ReactNode;
  /** Rows that are expected, so that the page does not jump. */
  readonly placeholderRows?: number | undefined;
};

/** Becomes a list of cards where it has less than 600 pixels. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, rowLabel, density, selection, empty, placeholderRows = 5 } = props;
  if (rows?.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div className={styles.container}>
      <table
        className={classNames(styles.table, density === "compact" && styles.compact)}
        aria-busy={rows === undefined}
      >
        <caption>
          <VisuallyHidden>{label}</VisuallyHidden>
        </caption>
        <thead className={styles.head}>
          <tr>
            {selection && <SelectAll keys={(rows ?? []).map(rowKey)} selection={selection} />}
            {columns.map((column) => (
              <HeaderCell key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: placeholderRows }, (_, index) => (
                <PlaceholderRow key={index} columns={columns} hasSelection={selection !== undefined} />
              ))
            : rows.map((row) => {
                const key = rowKey(row);
                return (
                  <tr key={key} className={styles.row} aria-selected={selection?.selected.has(key)}>
                    {selection && <SelectRow id={key} label={rowLabel?.(row) ?? key} selection={selection} />}
                    {columns.map((column) => (
                      <Cell key={column.key} column={column} row={row} />
                    ))}
                  </tr>
                );
              })}
        </tbody>
      </table>
    </div>
  );
}

function HeaderCell<Row>({
  column,
  sort,
  onSort,
}: { readonly column: Column<Row> } & Pick<TableProps<Row>, "sort" | "onSort">) {
  const { header, hideHeader, align, width, sortKey } = column;
  const className = align === "end" ? styles.end : undefined;
  const size = width === undefined ? undefined : { width };
  if (sortKey === undefined || onSort === undefined)
    return (
      <th scope="col" className={className} style={size}>
        {hideHeader === true ? <VisuallyHidden>{header}</VisuallyHidden> : header}
      </th>
    );
  const direction = sort?.key === sortKey ? sort.direction : undefined;
  return (
    <th scope="col" className={className} style={size} aria-sort={direction ?? "none"}>
      <button
        type="button"
        className={styles.sort}
        onClick={() => onSort({ key: sortKey, direction: direction === "ascending" ? "descending" : "ascending" })}
      >
        {header}
        <Icon
          name={direction === undefined ? "sort" : direction === "ascending" ? "arrow-up" : "arrow-down"}
          size={12}
        />
      </button>
    </th>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { cell, header, hideHeader, width, isTitle } = column;
  return (
    <td className={cellClass(column)} data-label={isTitle === true || hideHeader === true ? undefined : header}>
      <div className={styles.content} style={width === undefined ? undefined : { "--width": width }}>
        {cell(row)}
      </div>
    </td>
  );
}

const cellClass = <Row,>({ align, isTitle, hideHeader, wideOnly }: Column<Row>): string =>
  classNames(
    align === "end" && styles.end,
    isTitle === true && styles.title,
    hideHeader === true && styles.bare,
    wideOnly === true && styles.wideOnly,
  );

function PlaceholderRow<Row>(props: { readonly columns: readonly Column<Row>[]; readonly hasSelection: boolean }) {
  return (
    <tr>
      {props.hasSelection && <td className={styles.select} />}
      {props.columns.map((column) => (
        <td key={column.key} className={cellClass(column)}>
          <Skeleton width={column.isTitle === true ? "60%" : "40%"} />
        </td>
      ))}
    </tr>
  );
}

function SelectAll({ keys, selection }: { readonly keys: readonly string[]; readonly selection: Selection }) {
  const count = keys.filter((key) => selection.selected.has(key)).length;
  return (
    <th scope="col" className={styles.select}>
      <Checkbox
        label="Select all rows"
        hideLabel
        checked={count > 0 && count === keys.length}
        indeterminate={count > 0 && count < keys.length}
        onChange={(isChecked) => selection.onChange(new Set(isChecked ? keys : []))}
      />
    </th>
  );
}

type SelectRowProps = { readonly id: string; readonly label: string; readonly selection: Selection };

function SelectRow({ id, label, selection }: SelectRowProps) {
  const { selected, onChange } = selection;
  return (
    <td className={styles.select}>
      <Checkbox
        label={`Select ${label}`}
        hideLabel
        checked={selected.has(id)}
        onChange={(isChecked) => {
          const next = new Set(selected);
          if (isChecked) next.add(id);
          else next.delete(id);
          onChange(next);
        }}
      />
    </td>
  );
}
