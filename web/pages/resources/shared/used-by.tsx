import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import type { connectorUsedBy } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { projectPath } from "../../../api/recent-project.ts";
import { Section } from "../../../ui/card.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import styles from "./resources.module.css";

type UsedByProps = {
  readonly noun: string;
  readonly operation: typeof connectorUsedBy;
  readonly identifier: string;
  readonly scope: Scope;
};
type User = DataOf<typeof connectorUsedBy>["content"][number];

const SHOWN = 100;
const KINDS = {
  PIPELINE: { icon: "pipeline", label: "Pipeline" },
  CONNECTOR: { icon: "plug", label: "Connector" },
  SECRET: { icon: "key", label: "Secret" },
} as const;

/** What names a resource: pipelines by their newest version, connectors, and secrets. */
export function UsedBy({ noun, operation, identifier, scope }: UsedByProps) {
  const query = { ...scope, pageSize: SHOWN };
  const { data, error } = useQuery(dataQuery(operation, { path: { identifier }, query }));
  return (
    <Section title="Used by" description="Expressions, input sets and triggers are not searched.">
      {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
      {data === undefined && error === null && <SkeletonLines lines={2} />}
      {data !== undefined && data.totalItems === 0 && data.hidden === 0 && (
        <p className={styles.quiet}>Nothing names this {noun}.</p>
      )}
      <ul className={styles.users}>
        {data?.content.map((user) => (
          <li
            key={`${user.type} ${user.orgIdentifier} ${user.projectIdentifier} ${user.identifier}`}
            className={styles.user}
          >
            <Icon name={KINDS[user.type].icon} size={14} />
            <UserLink user={user} />
            <span className={styles.quiet}>
              {KINDS[user.type].label}, {placeOf(user)}
            </span>
          </li>
        ))}
      </ul>
      {data !== undefined && (data.totalItems > SHOWN || data.hidden > 0) && (
        <p className={styles.quiet}>
          {data.totalItems > SHOWN && `The first ${SHOWN} of ${data.totalItems}. `}
          {data.hidden > 0 && `${data.hidden} more that you may not see.`}
        </p>
      )}
    </Section>
  );
}

const placeOf = ({ orgIdentifier, projectIdentifier }: User): string =>
  projectIdentifier === null
    ? orgIdentifier === null
      ? "in the account"
      : `in ${orgIdentifier}`
    : `in ${orgIdentifier ?? ""} / ${projectIdentifier}`;

/** Organizations have no pages. */
function UserLink({
  user: { type, identifier, orgIdentifier: org, projectIdentifier: project },
}: {
  readonly user: User;
}) {
  const base = org === null ? "/account" : project === null ? undefined : projectPath({ org, project });
  if (base === undefined) return <Name>{identifier}</Name>;
  if (type === "PIPELINE")
    return (
      <PathLink path={`${base}/pipelines/${identifier}`}>
        <Name>{identifier}</Name>
      </PathLink>
    );
  return (
    <PathLink path={`${base}/${type === "CONNECTOR" ? "connectors" : "secrets"}`} search={{ open: identifier }}>
      <Name>{identifier}</Name>
    </PathLink>
  );
}
