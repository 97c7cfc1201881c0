import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { inputSetCreate, inputSetDelete, inputSetList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { ButtonLink, Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import { Pagination } from "../../../ui/pagination.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { parseListSearch } from "../../../util/list-search.ts";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { DeleteInputSet } from "./delete-input-set.tsx";
import { queryOf, type InputSetRow } from "./input-set-kind.ts";
import styles from "./input-sets.module.css";

const PAGE_SIZE = 50;
const route = getRouteApi("/projects/$org/$project/pipelines/$pipeline/input-sets");

/** The input sets and overlays of a pipeline. */
export function InputSetsPage() {
  const key = usePipelineKey();
  const { q, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay(key.scope);
  const [deleted, setDeleted] = useState<InputSetRow>();
  useTitle("Input sets", key.identifier, key.scope.projectIdentifier);
  const query = {
    ...queryOf(key),
    pageIndex: page - 1,
    pageSize: PAGE_SIZE,
    ...(q === undefined ? {} : { searchTerm: q }),
  };
  const list = useQuery({ ...dataQuery(inputSetList, { query }), placeholderData: (former) => former });
  const canCreate = may(inputSetCreate);
  return (
    <>
      <div className={styles.tools}>
        <SearchField
          label="Search input sets"
          value={q ?? ""}
          onSearch={(text) => void navigate({ search: parseListSearch({ q: text }) })}
        />
        <div className={styles.actions}>
          <CopyAs requests={[{ label: "List input sets", operation: inputSetList, query }]} />
          {canCreate && (list.data?.totalItems ?? 0) > 0 && <NewLink pipeline={key} kind="overlay" />}
          {canCreate && <NewLink pipeline={key} />}
        </div>
      </div>
      {list.error === null ? (
        <Table
          label="Input sets"
          columns={columnsFor(key, may(inputSetDelete) ? setDeleted : undefined)}
          rows={list.data?.content}
          rowKey={({ identifier }) => identifier}
          empty={
            q === undefined ? (
              <EmptyState icon="list" title="No input sets yet" actions={canCreate && <NewLink pipeline={key} />}>
                An input set keeps values of runtime inputs. Runs and triggers name it instead of repeating them.
              </EmptyState>
            ) : (
              <p className={styles.none}>Nothing matches “{q}”.</p>
            )
          }
        />
      ) : (
        <ErrorState
          title="The input sets could not be loaded"
          message={messageOf(list.error)}
          correlationId={list.error instanceof ApiError ? list.error.correlationId : undefined}
          onRetry={() => void list.refetch()}
        />
      )}
      {list.data !== undefined && list.data.totalItems > PAGE_SIZE && (
        <Pagination
          label="Input sets"
          page={page - 1}
          pageSize={PAGE_SIZE}
          total={list.data.totalItems}
          onChange={(next) => void navigate({ search: parseListSearch({ q, page: next + 1 }) })}
        />
      )}
      {deleted && <DeleteInputSet pipeline={key} row={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}

type NewLinkProps = { readonly pipeline: PipelineKey; readonly kind?: "overlay" };

const NewLink = ({ pipeline: { params }, kind }: NewLinkProps) => (
  <ButtonLink
    icon="plus"
    variant={kind === undefined ? "primary" : "secondary"}
    to="/projects/$org/$project/pipelines/$pipeline/input-sets/new"
    params={params}
    search={kind === undefined ? {} : { kind }}
  >
    {kind === undefined ? "New input set" : "New overlay"}
  </ButtonLink>
);

function columnsFor(
  { params }: PipelineKey,
  onDelete: ((row: InputSetRow) => void) | undefined,
): readonly Column<InputSetRow>[] {
  const columns: readonly Column<InputSetRow>[] = [
    {
      key: "name",
      header: "Name",
      isTitle: true,
      cell: ({ identifier, name, inputSetType }) => (
        <span className={styles.name}>
          <Link
            look="quiet"
            to="/projects/$org/$project/pipelines/$pipeline/input-sets/$inputSet"
            params={{ ...params, inputSet: identifier }}
            search={inputSetType === "OVERLAY_INPUT_SET" ? { kind: "overlay" } : {}}
          >
            <Name>{name}</Name>
          </Link>
          <code className={styles.quiet}>{identifier}</code>
        </span>
      ),
    },
    {
      key: "kind",
      header: "Kind",
      width: "8rem",
      cell: ({ inputSetType }) => (inputSetType === "INPUT_SET" ? "Input set" : "Overlay"),
    },
    { key: "state", header: "State", width: "9rem", cell: ({ isOutdated }) => <SetState isOutdated={isOutdated} /> },
    {
      key: "changed",
      header: "Changed",
      width: "9rem",
      align: "end",
      cell: ({ lastUpdatedAt }) => <RelativeTime at={lastUpdatedAt} />,
    },
  ];
  if (onDelete === undefined) return columns;
  const cell = (row: InputSetRow) => (
    <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.name}`} />}>
      <MenuItem icon="trash" danger onSelect={() => onDelete(row)}>
        Delete
      </MenuItem>
    </Menu>
  );
  return [...columns, { key: "actions", header: "Actions", hideHeader: true, align: "end", width: "3rem", cell }];
}

function SetState({ isOutdated }: { readonly isOutdated: boolean }) {
  if (!isOutdated)
    return (
      <Badge tone="success" icon="check">
        Valid
      </Badge>
    );
  return (
    <Badge tone="waiting" icon="warning" title="It has values that the newest version of the pipeline refuses.">
      Outdated
    </Badge>
  );
}
