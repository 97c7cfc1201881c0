import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import {
  accessExplain,
  accessListPrincipals,
  roleAssignmentCreate,
  roleAssignmentList,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch, type AccessSearch } from "../access-search.ts";
import { AssignRole } from "../assignments/assign-role.tsx";
import { mayAssign, parsePrincipalKey, principalKey } from "../assignments/principal.ts";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { PRINCIPAL_TYPE_NAMES } from "../shared/names.ts";
import { useOpenItem } from "../shared/open-item.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";
import { ExplanationPanel } from "./explanation-panel.tsx";
import { PrincipalFilters } from "./principal-filters.tsx";
import { columnsFor } from "./principal-columns.tsx";

const PAGE_SIZE = 50;

/** Who has roles in the scope or around it, and who may do something there. */
export function PermissionsPage() {
  const scope = usePageScope();
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  const navigate = useNavigate();
  const [isAssigning, setIsAssigning] = useState(false);
  const { shown, close } = useOpenItem();
  useTitle("Who can do what", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = { ...scope, pageSize: PAGE_SIZE, pageIndex: (search.page ?? 1) - 1, ...filterOf(search) };
  const list = useQuery({ ...dataQuery(accessListPrincipals, { query }), placeholderData: (former) => former });
  const rows = list.data?.principals.content;
  const opened = shown === undefined ? undefined : parsePrincipalKey(shown);
  const openedName = rows?.find(({ principal }) => principalKey(principal) === shown)?.principal.name;
  const change = (filters: AccessSearch): void =>
    void navigate({ to: ".", search: parseAccessSearch({ ...filters, q: search.q }) });
  return (
    <>
      <ListPage
        title="Who can do what"
        description={<ScopePicker />}
        tabs={<AccessTabs />}
        actions={
          PRINCIPAL_TYPE_NAMES.some(([type]) => mayAssign(may, type)) && (
            <Button variant="primary" icon="plus" onClick={() => setIsAssigning(true)}>
              Assign a role
            </Button>
          )
        }
        filters={<PrincipalFilters scope={scope} search={search} onChange={change} />}
        search={search}
        pageSize={PAGE_SIZE}
        columns={columnsFor(scope)}
        rows={rows}
        total={list.data?.principals.totalItems}
        rowKey={({ principal }) => principalKey(principal)}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[
          { label: "List who may do what", operation: accessListPrincipals, query },
          { label: "List role assignments", operation: roleAssignmentList, query: scope },
          { label: "Assign a role", operation: roleAssignmentCreate, query: scope, body: EXAMPLE },
          {
            label: "Explain a permission",
            operation: accessExplain,
            query: { ...scope, permission: search.permission ?? "core_pipeline_view" },
          },
        ]}
        empty={<EmptyState icon="shield" title="No user or service account has this permission here" />}
      />
      <HiddenLevels levels={list.data?.hiddenLevels ?? []} />
      {opened && (
        <ExplanationPanel
          key={shown}
          principal={opened}
          name={openedName}
          scope={scope}
          search={search}
          onClose={close}
        />
      )}
      {isAssigning && <AssignRole scope={scope} to={undefined} onClose={() => setIsAssigning(false)} />}
    </>
  );
}

const EXAMPLE = {
  roleIdentifier: "_account_viewer",
  resourceGroupIdentifier: "_all_resources_including_child_scopes",
  principal: { type: "USER_GROUP", identifier: "developers", scopeLevel: "account" },
};

const filterOf = ({ q, permission, resource, type }: AccessSearch) => ({
  ...(q === undefined ? {} : { searchTerm: q }),
  ...(permission === undefined ? {} : { permission }),
  // A resource means something only together with a permission.
  ...(permission === undefined || resource === undefined ? {} : { resourceIdentifier: resource }),
  ...(type === undefined ? {} : { principalType: type }),
});

function HiddenLevels({ levels }: { readonly levels: readonly string[] }) {
  if (levels.length === 0) return null;
  return (
    <Notice tone="waiting" title="Not everyone is listed">
      You may not see the role assignments of the {levels.join(" and the ")}, which count here, too.
    </Notice>
  );
}
