import { useNavigate } from "@tanstack/react-router";
import { resourceGroupCreate } from "../../../api/operations.gen.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { PathLink } from "../../../ui/link.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { ResourceGroupForm } from "./resource-group-form.tsx";

const EXAMPLE = {
  resourceGroup: {
    identifier: "pipelines",
    name: "Pipelines",
    resourceFilter: { includeAllResources: false, resources: [{ resourceType: "PIPELINE" }] },
  },
};

export function NewResourceGroupPage() {
  const scope = usePageScope();
  const groups = `${useAccessPath()}/resource-groups`;
  const navigate = useNavigate();
  useTitle("New resource group", "Resource groups");
  return (
    <>
      <PageHeader
        title="New resource group"
        breadcrumbs={[
          <PathLink key="list" path={groups}>
            Resource groups
          </PathLink>,
        ]}
        actions={
          <CopyAs
            requests={[
              { label: "Create a resource group", operation: resourceGroupCreate, query: scope, body: EXAMPLE },
            ]}
          />
        }
      />
      <ResourceGroupForm
        scope={scope}
        former={undefined}
        onSaved={(identifier) => void navigate({ to: `${groups}/${identifier}` as "/" })}
      />
    </>
  );
}
