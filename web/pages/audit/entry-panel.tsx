import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery } from "../../api/client.ts";
import { auditList } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Code } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { PathLink } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { Notice } from "../../ui/notice.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { ExactTime } from "../../ui/time.tsx";
import { Actor, Outcome } from "./audit-columns.tsx";
import styles from "./audit-page.module.css";
import { entryRequestOf, type AuditEntry } from "./audit-request.ts";
import type { AuditSearch, EntryKey } from "./audit-search.ts";
import { actorFilterOf, scopeText, sentenceOf, wordsOf } from "./audit-words.ts";
import { pathOf } from "./resource-path.ts";

type EntryPanelProps = {
  readonly scope: Scope;
  readonly entryKey: EntryKey;
  /** The entry, if the list behind the panel shows it. */
  readonly known: AuditEntry | undefined;
  readonly onClose: () => void;
  readonly onFilter: (search: AuditSearch) => void;
};

/** One entry: who, what, from where, and what was changed. */
export function EntryPanel({ scope, entryKey, known, onClose, onFilter }: EntryPanelProps) {
  const read = useQuery({
    ...dataQuery(auditList, entryRequestOf(scope, entryKey)),
    enabled: known === undefined,
    // Entries never change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const entry = known ?? read.data?.content.find(({ auditId }) => auditId === entryKey.id);
  if (entry === undefined)
    return (
      <Dialog open placement="side" title="Entry of the audit trail" onClose={onClose}>
        {read.error !== null && <Notice tone="failed">{messageOf(read.error)}</Notice>}
        {read.isPending && <SkeletonLines lines={6} />}
        {read.data !== undefined && <p>The trail has no such entry here. It may be older than what is kept.</p>}
      </Dialog>
    );
  const { action, resource } = entry;
  return (
    <Dialog
      open
      placement="side"
      size="large"
      title={`${sentenceOf(action)} ${wordsOf(resource.type)}`}
      onClose={onClose}
    >
      <div className={styles.panel}>
        <KeyValues items={factsOf(entry)} />
        <Refusal entry={entry} />
        <Section title="What was changed">
          <Changes entry={entry} />
        </Section>
        <Others entry={entry} onFilter={onFilter} />
      </div>
    </Dialog>
  );
}

function factsOf(entry: AuditEntry) {
  const { resource, resourceScope, timestamp, authenticationInfo, httpRequestInfo: http, requestMetadata } = entry;
  const page = pathOf(entry);
  const name = <Name>{resource.identifier}</Name>;
  const { email } = authenticationInfo.labels;
  return [
    {
      key: sentenceOf(resource.type),
      value: page === undefined ? name : <PathLink {...page}>{name}</PathLink>,
    },
    { key: "Scope", value: scopeText(resourceScope) },
    { key: "Who", value: <Actor entry={entry} /> },
    { key: "E-mail", value: email === null ? undefined : <Name>{email}</Name> },
    { key: "When", value: <ExactTime at={timestamp} /> },
    { key: "Outcome", value: <Outcome entry={entry} /> },
    { key: "Request", value: http === null ? undefined : <Code>{`${http.requestMethod} ${http.requestPath}`}</Code> },
    { key: "Address", value: requestMetadata?.clientIP },
    {
      key: "Correlation ID",
      value: requestMetadata === null ? undefined : <Code>{requestMetadata.correlationId}</Code>,
    },
  ];
}

function Refusal({ entry: { auditEventData: data } }: { readonly entry: AuditEntry }) {
  if (data?.type !== "REFUSAL") return null;
  const status = data.status === null ? "" : ` with status ${data.status}`;
  return (
    <Notice tone="failed" title={data.code ?? "Refused"}>
      {data.permission === null
        ? `It was refused${status}.`
        : `It was refused${status}: ${data.permission} was missing.`}
      {data.attempts > 1 && ` The entry stands for ${data.attempts.toLocaleString("en-GB")} equal attempts.`}
    </Notice>
  );
}

function Changes({ entry: { yamlDiffRecord: diff, auditEventData: data } }: { readonly entry: AuditEntry }) {
  if (diff === null || (diff.oldYaml === "" && diff.newYaml === ""))
    return <p className={styles.note}>This entry compares nothing.</p>;
  const isCut = data?.type === "CHANGES" && data.cut;
  return (
    <div className={styles.changes}>
      {isCut && <Notice tone="waiting">The change is larger than 16 KiB. Its beginning is shown.</Notice>}
      <DiffView label="Changed fields, before and after" before={diff.oldYaml} after={diff.newYaml} />
    </div>
  );
}

/** Leads to the entries that have something in common with this one. */
function Others({ entry, onFilter }: { readonly entry: AuditEntry; readonly onFilter: (search: AuditSearch) => void }) {
  const { resource } = entry;
  const actor = actorFilterOf(entry);
  return (
    <div className={styles.links}>
      <Button
        size="small"
        icon="filter"
        onClick={() => onFilter({ resource: [`${resource.type}:${resource.identifier}`] })}
      >
        All of this {wordsOf(resource.type)}
      </Button>
      {actor !== undefined && (
        <Button size="small" icon="filter" onClick={() => onFilter({ actor: [actor] })}>
          All by the same actor
        </Button>
      )}
    </div>
  );
}
