import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { delegateList, delegateTokenCreate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { CopyAs } from "../../../components/copy-as.tsx";
import { FilterBar, type Filter, type FilterValues } from "../../../components/filter-bar.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { AddDelegate } from "./add-delegate.tsx";
import { STATE_LOOKS, visibleDelegates, type Delegate } from "./delegate.ts";
import { DelegateList } from "./delegate-list.tsx";
import { DelegatePanel } from "./delegate-panel.tsx";
import { DelegateTabs } from "./delegate-tabs.tsx";
import { DELEGATE_STATES, parseDelegatesSearch, type DelegatesSearch } from "./delegates-search.ts";
import styles from "./delegates-page.module.css";
import { useDelegates } from "./use-delegates.ts";

const route = getRouteApi("/account/delegates");
const QUERY = "{ delegates { nodes { id delegateName hostName status lastHeartBeat } } }";

export function DelegatesPage() {
  const search = route.useSearch();
  const may = useMay({});
  const navigate = useNavigate();
  const [isAdding, setIsAdding] = useState(false);
  const { delegates, error, connection, reload } = useDelegates();
  const opened = delegates?.find(({ uuid }) => uuid === search.delegate);
  useTitle(...(opened ? [opened.delegateName] : []), "Delegates");
  const change = (next: DelegatesSearch): void => void navigate({ to: "/account/delegates", search: next });
  const add = may(delegateTokenCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setIsAdding(true)}>
      Add a delegate
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Delegates"
        actions={
          <>
            <CopyAs
              requests={[{ label: "List delegates", operation: delegateList, body: {} }]}
              queries={[{ label: "List delegates", query: QUERY }]}
            />
            {add}
          </>
        }
        tabs={<DelegateTabs />}
      />
      <ConnectionLost state={connection} />
      {error !== null && delegates === undefined && (
        <ErrorState title="The delegates could not be loaded" message={messageOf(error)} onRetry={reload} />
      )}
      {error === null && delegates === undefined && <SkeletonLines lines={6} />}
      {delegates?.length === 0 && (
        <EmptyState icon="server" title="No delegates yet" actions={add}>
          Delegates run the steps of pipelines, on machines that reach what you deploy to. Without one, steps wait.
        </EmptyState>
      )}
      {delegates !== undefined && delegates.length > 0 && (
        <>
          <div className={styles.tools}>
            <Filters delegates={delegates} search={search} onChange={change} />
          </div>
          <DelegateList delegates={visibleDelegates(delegates, search)} />
        </>
      )}
      {opened && (
        <DelegatePanel
          delegate={opened}
          may={may}
          onClose={() => change((({ delegate: _, ...rest }) => rest)(search))}
        />
      )}
      {isAdding && <AddDelegate onClose={() => setIsAdding(false)} />}
    </>
  );
}

type FiltersProps = {
  readonly delegates: readonly Delegate[];
  readonly search: DelegatesSearch;
  readonly onChange: (search: DelegatesSearch) => void;
};

function Filters({ delegates, search, onChange }: FiltersProps) {
  const filters: readonly Filter[] = [
    {
      key: "status",
      label: "State",
      options: DELEGATE_STATES.map((value) => ({ value, label: STATE_LOOKS[value].label })),
    },
    { key: "tag", label: "Tag" },
  ];
  const values: FilterValues = {
    ...(search.status === undefined ? {} : { status: search.status }),
    ...(search.tag === undefined ? {} : { tag: [search.tag] }),
  };
  const q = search.q === undefined ? {} : { q: search.q };
  return (
    <FilterBar
      filters={filters}
      values={values}
      onChange={(next) => onChange(parseDelegatesSearch({ ...q, status: next["status"], tag: next["tag"]?.[0] }))}
      search={
        <SearchField
          label="Search delegates"
          value={search.q ?? ""}
          onSearch={(text) => onChange(parseDelegatesSearch({ ...search, q: text }))}
        />
      }
      actions={
        <span className={styles.count}>
          {delegates.filter(({ connected }) => connected).length} of {delegates.length} connected
        </span>
      }
    />
  );
}
