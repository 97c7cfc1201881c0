import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import {
  resourceGroupDelete,
  resourceGroupGet,
  resourceGroupList,
  resourceGroupUpdate,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { DeleteItem } from "../shared/delete-item.tsx";
import { typeName } from "../shared/names.ts";
import { describeScopes, type ResourceGroup } from "./resource-group.ts";
import { ResourceGroupForm } from "./resource-group-form.tsx";

/** A resource group: a form for those who may change it. */
export function ResourceGroupPage() {
  const scope = usePageScope();
  const path = { identifier: useParams({ strict: false }).resourceGroup ?? "" };
  const groups = `${useAccessPath()}/resource-groups`;
  const may = useMay(scope);
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const { data, error, refetch } = useQuery(dataQuery(resourceGroupGet, { path, query: scope }));
  const group = data?.resourceGroup;
  const name = group?.name ?? path.identifier;
  const isOwn = data?.platformManaged === false;
  useTitle(name, "Resource groups");
  return (
    <>
      <PageHeader
        title={<Name>{name}</Name>}
        breadcrumbs={[
          <PathLink key="list" path={groups}>
            Resource groups
          </PathLink>,
        ]}
        status={data?.platformManaged === true && <Badge icon="lock">Built in</Badge>}
        meta={<code>{path.identifier}</code>}
        actions={
          <>
            <CopyAs requests={[{ label: "Get the resource group", operation: resourceGroupGet, path, query: scope }]} />
            {isOwn && may(resourceGroupDelete, path.identifier) && (
              <Button variant="ghost" icon="trash" onClick={() => setIsDeleting(true)}>
                Delete resource group
              </Button>
            )}
          </>
        }
      />
      {error !== null && (
        <ErrorState
          title="The resource group could not be loaded"
          message={messageOf(error)}
          onRetry={() => void refetch()}
        />
      )}
      {group === undefined && error === null && <SkeletonLines lines={8} />}
      {group !== undefined &&
        (isOwn && may(resourceGroupUpdate, path.identifier) ? (
          <ResourceGroupForm key={path.identifier} scope={scope} former={group} />
        ) : (
          <Facts group={group} />
        ))}
      {isDeleting && (
        <DeleteItem
          action="Delete resource group"
          name={name}
          outcome="was deleted"
          typedName={path.identifier}
          remove={() => fetchData(resourceGroupDelete, { path, query: scope })}
          lists={[resourceGroupList]}
          onClose={() => setIsDeleting(false)}
          onRemoved={() => void navigate({ to: groups as "/" })}
        >
          The resources stay. A group that role assignments use cannot be deleted. This cannot be undone.
        </DeleteItem>
      )}
    </>
  );
}

function Facts({ group }: { readonly group: ResourceGroup }) {
  const { includeAllResources, resources } = group.resourceFilter;
  return (
    <Card>
      <KeyValues
        items={[
          { key: "Description", value: group.description === "" ? undefined : <Name>{group.description}</Name> },
          { key: "In", value: describeScopes(group) },
          { key: "Resources", value: includeAllResources ? "All" : undefined },
          ...resources.map(({ resourceType, identifiers }) => ({
            key: typeName(resourceType),
            value: identifiers === null ? "all" : <Name>{identifiers.join(", ")}</Name>,
          })),
        ]}
      />
    </Card>
  );
}
