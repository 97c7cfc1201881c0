import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError, messageOf } from "../api/api-error.ts";
import { ErrorState } from "../ui/error-state.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Table, type Column } from "../ui/table.tsx";
import type { ListSearch } from "../util/list-search.ts";
import { CopyAs, type CopiedQuery, type CopiedRequest } from "./copy-as.tsx";
import styles from "./list-page.module.css";

type ListPageProps<Row> = {
  readonly title: string;
  readonly description?: ReactNode;
  /** Tabs that the list is one of. */
  readonly tabs?: ReactNode;
  /** The main action, if the user may perform it. */
  readonly actions?: ReactNode;
  /** Text and page, as the address has them. */
  readonly search: ListSearch;
  readonly pageSize: number;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are being loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly total: number | undefined;
  readonly rowKey: (row: Row) => string;
  readonly error: unknown;
  readonly onRetry: () => void;
  /** Stands in place of the list if there are none at all. What a search does not find is told here. */
  readonly empty: ReactNode;
  readonly requests: readonly CopiedRequest[];
  readonly queries?: readonly CopiedQuery[];
  /** Between the search and the list. */
  readonly filters?: ReactNode;
  /** For lists that the API does not search. */
  readonly hideSearch?: boolean;
};

/** The page that every numbered list has: title, search, rows and pages, all in the address. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, description, actions, search, pageSize, columns, rows, total, rowKey, error, onRetry, empty } = props;
  const navigate = useNavigate();
  const change = (next: ListSearch): void =>
    void navigate({ to: ".", search: ({ q: _q, page: _page, ...others }) => ({ ...others, ...next }) });
  const isSearching = search.q !== undefined;
  return (
    <>
      <PageHeader
        title={title}
        meta={description}
        tabs={props.tabs}
        actions={
          <>
            <CopyAs requests={props.requests} queries={props.queries} />
            {actions}
          </>
        }
      />
      <div className={styles.tools}>
        {props.hideSearch !== true && (
          <SearchField
            label={`Search ${title.toLowerCase()}`}
            value={search.q ?? ""}
            onSearch={(q) => change(q === "" ? {} : { q })}
          />
        )}
        {props.filters}
      </div>
      {error === null || error === undefined ? (
        <Table
          label={title}
          columns={columns}
          rows={rows}
          rowKey={rowKey}
          empty={isSearching ? <p className={styles.none}>Nothing matches “{search.q}”.</p> : empty}
        />
      ) : (
        <ErrorState
          title={`${title} could not be loaded`}
          message={messageOf(error)}
          correlationId={error instanceof ApiError ? error.correlationId : undefined}
          onRetry={onRetry}
        />
      )}
      {total !== undefined && total > pageSize && (
        <Pagination
          label={title}
          page={(search.page ?? 1) - 1}
          pageSize={pageSize}
          total={total}
          onChange={(page) =>
            change({ ...(search.q === undefined ? {} : { q: search.q }), ...(page > 0 ? { page: page + 1 } : {}) })
          }
        />
      )}
    </>
  );
}
