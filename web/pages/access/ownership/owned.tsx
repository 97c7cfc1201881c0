import type { DataOf } from "../../../api/client.ts";
import type { OwnershipBody, ownershipList } from "../../../api/operations.gen.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { IconName } from "../../../ui/icon.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";

export type Owned = DataOf<typeof ownershipList>["resources"]["content"][number];
export type OwnedRef = OwnershipBody["resources"][number];

export const ownedKey = ({ type, orgIdentifier, projectIdentifier, pipelineIdentifier, identifier }: Owned): string =>
  [type, orgIdentifier, projectIdentifier, pipelineIdentifier, identifier].join("/");

/** How the API names a resource to adopt. */
export const refOf = ({ type, orgIdentifier, projectIdentifier, pipelineIdentifier, identifier }: Owned): OwnedRef => ({
  ...{ type, orgIdentifier, projectIdentifier, pipelineIdentifier },
  ...(type === "PIPELINE" ? {} : { identifier }),
});

const KINDS: Readonly<Record<Owned["type"], { readonly label: string; readonly icon: IconName }>> = {
  TRIGGER: { label: "Trigger", icon: "bolt" },
  PIPELINE: { label: "Pipeline", icon: "pipeline" },
  INPUT_SET: { label: "Input set", icon: "list" },
};

export const OWNED_COLUMNS: readonly Column<Owned>[] = [
  { key: "name", header: "Name", isTitle: true, cell: ({ name }) => <Name>{name}</Name> },
  {
    key: "kind",
    header: "Kind",
    width: "9rem",
    cell: ({ type }) => <Badge icon={KINDS[type].icon}>{KINDS[type].label}</Badge>,
  },
  {
    key: "pipeline",
    header: "Pipeline",
    cell: ({ orgIdentifier: org, projectIdentifier: project, pipelineIdentifier: pipeline }) => (
      <Link to="/projects/$org/$project/pipelines/$pipeline" params={{ org, project, pipeline }}>
        <Name>{pipeline}</Name>
      </Link>
    ),
  },
  {
    key: "project",
    header: "Project",
    cell: ({ orgIdentifier, projectIdentifier }) => `${orgIdentifier} / ${projectIdentifier}`,
  },
];
