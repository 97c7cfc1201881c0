import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { secretGet, secretGetUsageScope, secretUpdateUsageScope, secretUsedBy } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { ResourcePanel } from "../shared/resource-panel.tsx";
import {
  ALL,
  applicationsQuery,
  entriesOf,
  ENVIRONMENT_KINDS,
  environmentsQuery,
  modeOf,
  type Entry,
  type UsageScope,
} from "./usage-scope.ts";
import styles from "./usage-scope.module.css";

type SecretPanelProps = {
  readonly scope: Scope;
  readonly identifier: string;
  readonly name: string;
  readonly onEditScope: () => void;
  readonly onClose: () => void;
};

/** Who may use a secret, and what names it. Its value is not known here. */
export function SecretPanel({ scope, identifier, name, onEditScope, onClose }: SecretPanelProps) {
  const may = useMay(scope);
  const parts = { path: { identifier }, query: { ...scope } };
  const { data, error } = useQuery(dataQuery(secretGetUsageScope, parts));
  return (
    <ResourcePanel
      noun="secret"
      name={name}
      identifier={identifier}
      scope={scope}
      operations={{ get: secretGet, usedBy: secretUsedBy }}
      requests={[{ label: "Read its usage scope", operation: secretGetUsageScope, ...parts }]}
      onClose={onClose}
    >
      <Section
        title="Usage scope"
        description="Which executions may use it."
        actions={
          may(secretUpdateUsageScope, identifier) && (
            <Button size="small" icon="edit" onClick={onEditScope}>
              Edit usage scope
            </Button>
          )
        }
      >
        {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
        {data === undefined && error === null && <SkeletonLines lines={2} />}
        {data !== undefined && <ScopeText usage={data} />}
      </Section>
    </ResourcePanel>
  );
}

function ScopeText({ usage }: { readonly usage: UsageScope }) {
  const mode = modeOf(usage);
  if (mode === "inherit")
    return (
      <span>
        As its secret manager <code>{usage.secretManagerIdentifier}</code> allows.
      </span>
    );
  if (mode === "none") return <span>No execution may use it.</span>;
  return (
    <ul className={styles.lines}>
      {entriesOf(usage).map((entry, index) => (
        // Lines have no other key, and do not move.
        <li key={index}>
          <EntryText entry={entry} />
        </li>
      ))}
    </ul>
  );
}

function EntryText({ entry: { application, environment } }: { readonly entry: Entry }) {
  const applications = useQuery(applicationsQuery);
  const kind = ENVIRONMENT_KINDS.find(({ value }) => value === environment);
  const environments = useQuery({ ...environmentsQuery(application), enabled: kind === undefined });
  const project = applications.data?.find(({ id }) => id === application)?.name ?? application;
  return (
    <>
      {application === ALL ? "All projects" : <Name>{project}</Name>}:{" "}
      {kind?.label ?? <Name>{environments.data?.find(({ id }) => id === environment)?.name ?? environment}</Name>}
    </>
  );
}
