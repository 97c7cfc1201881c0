import { triggerDelete, type TriggerContent } from "../../../api/operations.gen.ts";
import type { May, Scope } from "../../../api/permissions.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { maySaveTrigger } from "../shared/may-trigger.ts";
import { EnabledBadge, ResultBadge } from "../shared/trigger-badges.tsx";
import { paramsOf, triggerKey } from "../shared/trigger-key.ts";
import styles from "../triggers.module.css";

type ColumnDeps = {
  readonly scope: Required<Scope>;
  readonly may: May;
  readonly onOpen: (kind: "switch" | "delete", row: TriggerContent) => void;
};

export function triggerColumns({ scope, may, onOpen }: ColumnDeps): readonly Column<TriggerContent>[] {
  const ofRow = ({ targetIdentifier, identifier }: TriggerContent) =>
    paramsOf(triggerKey(scope, targetIdentifier, identifier));
  const columns: readonly Column<TriggerContent>[] = [
    {
      key: "name",
      header: "Name",
      isTitle: true,
      cell: (row) => (
        <span className={styles.name}>
          <Link look="quiet" to="/projects/$org/$project/triggers/$pipeline/$trigger" params={ofRow(row)}>
            <Name>{row.name}</Name>
          </Link>
          <code className={styles.quiet}>{row.identifier}</code>
        </span>
      ),
    },
    { key: "pipeline", header: "Pipeline", cell: ({ targetIdentifier }) => <code>{targetIdentifier}</code> },
    { key: "state", header: "State", width: "9rem", cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
    {
      key: "result",
      header: "Last event",
      width: "14rem",
      cell: ({ lastTriggerExecutionDetails: last }) =>
        last === null ? (
          <span className={styles.quiet}>None yet</span>
        ) : (
          <span className={styles.last} title={last.message}>
            <ResultBadge status={last.lastExecutionStatus} />
            <span className={styles.quiet}>
              <RelativeTime at={last.lastExecutionTime} />
            </span>
          </span>
        ),
    },
  ];
  const cell = (row: TriggerContent) => {
    const canSave = maySaveTrigger(may, row.targetIdentifier);
    const canDelete = may(triggerDelete, row.targetIdentifier);
    if (!canSave && !canDelete) return null;
    return (
      <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.name}`} />}>
        {canSave && (
          <MenuItem asLink>
            <Link look="quiet" to="/projects/$org/$project/triggers/$pipeline/$trigger/edit" params={ofRow(row)}>
              <Icon name="edit" size={14} />
              Edit
            </Link>
          </MenuItem>
        )}
        {canSave && (
          <MenuItem icon={row.enabled ? "pause" : "play"} onSelect={() => onOpen("switch", row)}>
            {row.enabled ? "Disable" : "Enable"}
          </MenuItem>
        )}
        {canDelete && (
          <MenuItem icon="trash" danger onSelect={() => onOpen("delete", row)}>
            Delete
          </MenuItem>
        )}
      </Menu>
    );
  };
  return [...columns, { key: "actions", header: "Actions", hideHeader: true, align: "end", width: "3rem", cell }];
}
