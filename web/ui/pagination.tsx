import { Button, IconButton } from "./button.tsx";
import styles from "./pagination.module.css";

type CursorPaginationProps = {
  /** What the pages hold: Executions */
  readonly label: string;
  /** Undefined if there is no such page. */
  readonly onNewer?: (() => void) | undefined;
  readonly onOlder?: (() => void) | undefined;
  readonly busy?: boolean | undefined;
};

/** For lists that are too long for numbers. */
export function CursorPagination({ label, onNewer, onOlder, busy }: CursorPaginationProps) {
  return (
    <nav className={styles.pagination} aria-label={`Pages of ${label}`}>
      <Button size="small" icon="chevron-left" disabled={onNewer === undefined} busy={busy} onClick={onNewer}>
        Newer
      </Button>
      <Button size="small" trailingIcon="chevron-right" disabled={onOlder === undefined} busy={busy} onClick={onOlder}>
        Older
      </Button>
    </nav>
  );
}

type PaginationProps = {
  readonly label: string;
  /** From 0. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  readonly onChange: (page: number) => void;
};

export function Pagination({ label, page, pageSize, total, onChange }: PaginationProps) {
  const last = Math.max(0, Math.ceil(total / pageSize) - 1);
  const from = total === 0 ? 0 : page * pageSize + 1;
  const to = Math.min(total, (page + 1) * pageSize);
  return (
    <nav className={styles.pagination} aria-label={`Pages of ${label}`}>
      <span className={styles.range} aria-live="polite">
        {from.toLocaleString("en-GB")}–{to.toLocaleString("en-GB")} of {total.toLocaleString("en-GB")}
      </span>
      <IconButton
        size="small"
        variant="secondary"
        icon="chevron-left"
        label="Previous page"
        disabled={page <= 0}
        onClick={() => onChange(page - 1)}
      />
      <IconButton
        size="small"
        variant="secondary"
        icon="chevron-right"
        label="Next page"
        disabled={page >= last}
        onClick={() => onChange(page + 1)}
      />
    </nav>
  );
}
