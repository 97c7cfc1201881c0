import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { ownershipAdopt, ownershipList } from "../../../api/operations.gen.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Pagination } from "../../../ui/pagination.tsx";
import { Table } from "../../../ui/table.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parsePrincipalKey } from "../assignments/principal.ts";
import { countOf } from "../shared/names.ts";
import styles from "../shared/panel.module.css";
import { AdoptResources } from "./adopt-resources.tsx";
import { OWNED_COLUMNS, ownedKey, refOf, type Owned } from "./owned.tsx";
import { parseOwnershipSearch, type OwnershipSearch } from "./ownership-search.ts";
import { PrincipalPicker } from "./principal-picker.tsx";
import { useMayAdopt } from "./use-may-adopt.ts";

const PAGE_SIZE = 50;
const route = getRouteApi("/account/ownership");

/** What triggers run for a user or a service account, which stops when the account ends. */
export function OwnershipPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  useTitle("Ownership");
  const change = (next: OwnershipSearch): void =>
    void navigate({ to: "/account/ownership", search: parseOwnershipSearch(next) });
  const query = queryOf(search);
  return (
    <>
      <PageHeader
        title="Ownership"
        meta="What stops when a user leaves or a service account is deleted."
        actions={
          <CopyAs
            requests={[
              {
                label: "List what stops",
                operation: ownershipList,
                query: query ?? { principalType: "USER", principalIdentifier: "…" },
              },
              { label: "Adopt a trigger", operation: ownershipAdopt, body: EXAMPLE },
            ]}
          />
        }
      />
      <div className={styles.panel}>
        <PrincipalPicker search={search} onChange={change} />
        {query === undefined ? (
          <EmptyState icon="flag" title="Choose a user or a service account">
            Triggers start nothing once their owner, or the author of what they run, is deactivated or removed. Adopt
            them before.
          </EmptyState>
        ) : (
          <OwnedResources key={search.principal} query={query} search={search} onChange={change} />
        )}
      </div>
    </>
  );
}

const EXAMPLE = {
  resources: [
    {
      ...{ type: "TRIGGER", orgIdentifier: "default", projectIdentifier: "shop" },
      ...{ pipelineIdentifier: "deploy", identifier: "hook" },
    },
  ],
};

function queryOf({ principal: key, page = 1, ...place }: OwnershipSearch) {
  const principal = parsePrincipalKey(key ?? "");
  if (principal === undefined || principal.type === "USER_GROUP") return undefined;
  const { orgIdentifier, projectIdentifier } = place;
  return {
    principalType: principal.type,
    principalIdentifier: principal.identifier,
    ...(orgIdentifier === undefined ? {} : { orgIdentifier }),
    ...(projectIdentifier === undefined ? {} : { projectIdentifier }),
    pageIndex: page - 1,
    pageSize: PAGE_SIZE,
  };
}

type OwnedResourcesProps = {
  readonly query: NonNullable<ReturnType<typeof queryOf>>;
  readonly search: OwnershipSearch;
  readonly onChange: (search: OwnershipSearch) => void;
};

function OwnedResources({ query, search, onChange }: OwnedResourcesProps) {
  const { data, error, refetch } = useQuery({
    ...dataQuery(ownershipList, { query }),
    placeholderData: keepPreviousData,
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isAdopting, setIsAdopting] = useState(false);
  const rows = data?.resources.content;
  const mayAdopt = useMayAdopt(rows ?? []);
  const chosen = rows?.filter((row) => selected.has(ownedKey(row))) ?? [];
  const refused = chosen.find((row) => !mayAdopt(row));
  if (error !== null)
    return (
      <ErrorState title="The resources could not be loaded" message={messageOf(error)} onRetry={() => void refetch()} />
    );
  return (
    <>
      {(data?.hidden ?? 0) > 0 && (
        <Notice tone="waiting" title="Not everything is listed">
          {countOf(data?.hidden ?? 0, "resource")} in projects that you may not see would stop, too.
        </Notice>
      )}
      <Table<Owned>
        label="What stops"
        columns={OWNED_COLUMNS}
        rows={rows}
        rowKey={ownedKey}
        rowLabel={({ name }) => name}
        {...(rows?.some(mayAdopt) === true ? { selection: { selected, onChange: setSelected } } : {})}
        empty={
          <EmptyState icon="check-circle" title="Nothing stops">
            No trigger runs for this account, and it is the author of nothing that triggers run.
          </EmptyState>
        }
      />
      {refused && (
        <Notice tone="waiting">
          You may not edit {refused.name} in project {refused.projectIdentifier}, so you cannot adopt it.
        </Notice>
      )}
      {chosen.length > 0 && refused === undefined && (
        <div className={styles.actions}>
          <Button variant="primary" onClick={() => setIsAdopting(true)}>
            Adopt {countOf(chosen.length, "resource")}
          </Button>
        </div>
      )}
      {data !== undefined && data.resources.totalItems > PAGE_SIZE && (
        <Pagination
          label="What stops"
          page={query.pageIndex}
          pageSize={PAGE_SIZE}
          total={data.resources.totalItems}
          onChange={(page) => {
            setSelected(new Set());
            onChange({ ...search, page: page + 1 });
          }}
        />
      )}
      {isAdopting && (
        <AdoptResources
          resources={chosen.map(refOf)}
          onClose={() => setIsAdopting(false)}
          onAdopted={() => setSelected(new Set())}
        />
      )}
    </>
  );
}
