import type { DataOf } from "../../../api/client.ts";
import type { accessListPrincipals } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { IconName } from "../../../ui/icon.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { principalKey } from "../assignments/principal.ts";
import { levelOf, levelOfPlace } from "../shared/levels.ts";
import { builtInName, countOf, PRINCIPAL_TYPES, type PrincipalType } from "../shared/names.ts";
import { ItemLink } from "../shared/open-item.tsx";
import styles from "../shared/panel.module.css";

type Row = DataOf<typeof accessListPrincipals>["principals"]["content"][number];
type Assignment = Row["roleAssignments"][number];

const ICONS: Readonly<Record<PrincipalType, IconName>> = {
  USER: "user",
  USER_GROUP: "users",
  SERVICE_ACCOUNT: "terminal",
};
const SHOWN = 3;

export const columnsFor = (scope: Scope): readonly Column<Row>[] => [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ principal }) => (
      <span className={styles.text}>
        <ItemLink id={principalKey(principal)}>
          <Name>{principal.name}</Name>
        </ItemLink>
        {principal.email !== null && principal.type === "USER" && (
          <span className={styles.none}>
            <Name>{principal.email}</Name>
          </span>
        )}
      </span>
    ),
  },
  {
    key: "kind",
    header: "Kind",
    width: "11rem",
    cell: ({ principal }) => <Badge icon={ICONS[principal.type]}>{PRINCIPAL_TYPES[principal.type]}</Badge>,
  },
  {
    key: "roles",
    header: "By these roles",
    cell: (row) => <Roles row={row} scope={scope} />,
  },
  {
    key: "permissions",
    header: "Permissions",
    width: "11rem",
    align: "end",
    cell: ({ permissions }) => {
      const single = permissions.filter(({ allResources }) => !allResources).length;
      if (single === 0) return permissions.length === 1 ? "on all" : permissions.length;
      if (single === permissions.length) return single === 1 ? "on single resources" : `${single} on single resources`;
      return `${permissions.length}, ${single} of them on single resources`;
    },
  },
];

function Roles({ row: { roleAssignments, roleAssignmentCount }, scope }: { readonly row: Row; readonly scope: Scope }) {
  const rest = roleAssignmentCount - Math.min(SHOWN, roleAssignments.length);
  return (
    <ul>
      {roleAssignments.slice(0, SHOWN).map((one) => (
        <li key={one.identifier} className={styles.text}>
          <AssignmentText assignment={one} scope={scope} />
        </li>
      ))}
      {rest > 0 && <li className={styles.none}>and {countOf(rest, "more role")}</li>}
    </ul>
  );
}

type AssignmentTextProps = { readonly assignment: Assignment; readonly scope: Scope };

/** A role, what it is over, and where it was assigned if that is not here. */
export function AssignmentText({ assignment, scope }: AssignmentTextProps) {
  const { roleName, roleIdentifier, resourceGroupName, resourceGroupIdentifier } = assignment;
  const level = levelOfPlace(assignment);
  return (
    <span>
      <Name>{roleName ?? builtInName(roleIdentifier)}</Name>
      <span className={styles.none}>
        {" "}
        over <Name>{resourceGroupName ?? builtInName(resourceGroupIdentifier)}</Name>
        {level !== levelOf(scope) && `, assigned in the ${level}`}
      </span>
    </span>
  );
}
