import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Link } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import type { Column } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { visibleText } from "../../util/visible-text.ts";
import styles from "./audit-page.module.css";
import type { AuditEntry } from "./audit-request.ts";
import { writeEntryKey } from "./audit-search.ts";
import { KINDS, scopeText, sentenceOf, wordsOf } from "./audit-words.ts";

export function columnsFor(isOfProject: boolean): readonly Column<AuditEntry>[] {
  const columns: readonly (Column<AuditEntry> | undefined)[] = [
    {
      key: "change",
      header: "Change",
      isTitle: true,
      cell: (entry) => (
        <Link
          look="quiet"
          to="."
          search={(former) => ({
            ...former,
            entry: writeEntryKey({ at: entry.timestamp, id: entry.auditId }),
          })}
          title={visibleText(entry.resource.identifier)}
        >
          <span className={styles.change}>
            <span className={styles.action}>
              {sentenceOf(entry.action)} {wordsOf(entry.resource.type)}
            </span>
            <Name>{entry.resource.identifier}</Name>
          </span>
        </Link>
      ),
    },
    { key: "who", header: "Who", width: "13rem", cell: (entry) => <Actor entry={entry} /> },
    isOfProject
      ? undefined
      : {
          key: "scope",
          header: "Scope",
          width: "12rem",
          cell: ({ resourceScope }) => <span className={styles.scope}>{scopeText(resourceScope)}</span>,
        },
    { key: "outcome", header: "Outcome", width: "9rem", cell: (entry) => <Outcome entry={entry} /> },
    {
      key: "when",
      header: "When",
      width: "7rem",
      align: "end",
      cell: ({ timestamp }) => <RelativeTime at={timestamp} />,
    },
  ];
  return columns.filter((one) => one !== undefined);
}

export function Actor({ entry: { authenticationInfo } }: { readonly entry: AuditEntry }) {
  const { principal, labels } = authenticationInfo;
  const { label, icon } = KINDS[principal.type];
  return (
    <span className={styles.actor} title={visibleText(`${label} ${labels.email ?? labels.username}`)}>
      <Icon name={icon} size={14} label={label} />
      <span className={styles.actorName}>
        <Name>{labels.username}</Name>
      </span>
    </span>
  );
}

export function Outcome({ entry: { auditEventData } }: { readonly entry: AuditEntry }) {
  if (auditEventData?.type !== "REFUSAL") return <span className={styles.quiet}>Success</span>;
  const { attempts } = auditEventData;
  return (
    <Badge tone="failed" icon="close">
      Refused{attempts > 1 && ` ${attempts.toLocaleString("en-GB")} times`}
    </Badge>
  );
}
