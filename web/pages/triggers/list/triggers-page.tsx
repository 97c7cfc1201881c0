import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { triggerList, type TriggerContent } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { ListPage } from "../../../components/list-page.tsx";
import { useProjectChanges } from "../../../components/use-project-changes.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteTrigger } from "../shared/delete-trigger.tsx";
import { PipelinePicker } from "../../../components/pipeline-picker.tsx";
import { maySaveTrigger } from "../shared/may-trigger.ts";
import { SwitchTrigger } from "../shared/switch-trigger.tsx";
import { triggerKey } from "../shared/trigger-key.ts";
import { parseTriggersSearch } from "../trigger-search.ts";
import { triggerColumns } from "./trigger-columns.tsx";

const PAGE_SIZE = 25;
const SHOWN = [triggerList];
const route = getRouteApi("/projects/$org/$project/triggers");

type Open = { readonly kind: "switch" | "delete"; readonly row: TriggerContent };

export function TriggersPage() {
  const scope = useProjectScope();
  const search = route.useSearch();
  const params = route.useParams();
  const navigate = route.useNavigate();
  const may = useMay(scope);
  const [open, setOpen] = useState<Open>();
  useTitle("Triggers", scope.projectIdentifier);
  const connection = useProjectChanges(scope, SHOWN);
  const { q, page = 1, pipeline } = search;
  const query = {
    ...scope,
    ...(pipeline === undefined ? {} : { targetIdentifier: pipeline }),
    page: page - 1,
    size: PAGE_SIZE,
    ...(q === undefined ? {} : { searchTerm: q }),
  };
  const list = useQuery({ ...dataQuery(triggerList, { query }), placeholderData: (former) => former });
  const create = maySaveTrigger(may, pipeline) && (
    <ButtonLink
      variant="primary"
      icon="plus"
      to="/projects/$org/$project/triggers/new"
      params={params}
      search={pipeline === undefined ? {} : { pipeline }}
    >
      New trigger
    </ButtonLink>
  );
  const close = (): void => setOpen(undefined);
  return (
    <>
      <ConnectionLost state={connection} />
      <ListPage
        title="Triggers"
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={triggerColumns({
          scope,
          may,
          onOpen: (kind, row) => setOpen({ kind, row }),
        })}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ targetIdentifier, identifier }) => `${targetIdentifier} ${identifier}`}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List triggers", operation: triggerList, query }]}
        filters={
          <FilterBar
            filters={[
              {
                key: "pipeline",
                label: "Pipeline",
                editor: ({ values: [chosen = ""], onChange }) => (
                  <PipelinePicker
                    label="Pipeline"
                    value={chosen}
                    onChange={(value) => onChange(value === "" ? [] : [value])}
                  />
                ),
              },
            ]}
            values={pipeline === undefined ? {} : { pipeline: [pipeline] }}
            onChange={(values) =>
              void navigate({ search: parseTriggersSearch({ q, pipeline: values["pipeline"]?.[0] }) })
            }
          />
        }
        empty={
          <EmptyState
            icon="bolt"
            title={pipeline === undefined ? "No triggers yet" : "No triggers of this pipeline"}
            actions={create}
          >
            A trigger has the address of a webhook. Each call of it starts the trigger’s pipeline.
          </EmptyState>
        }
      />
      {open?.kind === "switch" && <SwitchTrigger triggerKey={keyOf(open.row)} trigger={open.row} onClose={close} />}
      {open?.kind === "delete" && <DeleteTrigger triggerKey={keyOf(open.row)} name={open.row.name} onClose={close} />}
    </>
  );

  function keyOf(row: TriggerContent) {
    return triggerKey(scope, row.targetIdentifier, row.identifier);
  }
}
