import { useState, type ReactNode, type RefObject } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import type { IconName } from "../../ui/icon.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { formatLineSpan, parseLineSpan, type LineSpan } from "./lines/line-range.ts";
import styles from "./log-viewer.module.css";

type SearchToolsProps = {
  readonly field: RefObject<HTMLDivElement | null>;
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly onNeighbour: (direction: 1 | -1) => void;
  /** How many hits, and which one is shown. */
  readonly found: string;
  readonly hasHits: boolean;
};

export function SearchTools({ field, query, onQuery, onNeighbour, found, hasHits }: SearchToolsProps) {
  return (
    <search className={styles.search}>
      <div
        ref={field}
        className={styles.searchField}
        onKeyDownCapture={(event) => {
          if (event.key !== "Enter" || !event.shiftKey) return;
          event.preventDefault();
          event.stopPropagation();
          onNeighbour(-1);
        }}
      >
        <SearchField
          label="Search the log"
          value={query}
          onSearch={(text) => (text === query ? onNeighbour(1) : onQuery(text))}
        />
      </div>
      {query !== "" && (
        <>
          <span className={styles.found} role="status">
            {found}
          </span>
          <IconButton
            icon="chevron-up"
            size="small"
            label="Previous hit (Shift Enter)"
            disabled={!hasHits}
            onClick={() => onNeighbour(-1)}
          />
          <IconButton
            icon="chevron-down"
            size="small"
            label="Next hit (Enter)"
            disabled={!hasHits}
            onClick={() => onNeighbour(1)}
          />
        </>
      )}
    </search>
  );
}

type LineFieldProps = { readonly span: LineSpan | undefined; readonly onSpan: (span: LineSpan | undefined) => void };

/** The lines of the address, to be read and to be changed by keyboard. */
export function LineField({ span, onSpan }: LineFieldProps) {
  const shown = span === undefined ? "" : formatLineSpan(span);
  return <EditedLineField key={shown} shown={shown} onSpan={onSpan} />;
}

function EditedLineField({ shown, onSpan }: Pick<LineFieldProps, "onSpan"> & { readonly shown: string }) {
  const [text, setText] = useState(shown);
  const isWrong = text.trim() !== "" && parseLineSpan(text) === undefined;
  return (
    <form
      className={styles.lineField}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) onSpan(parseLineSpan(text));
      }}
    >
      <TextField
        mono
        aria-label="Go to lines"
        placeholder="Line"
        title="Go to a line, or to lines: 10-20"
        value={text}
        maxLength={30}
        aria-invalid={isWrong}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

type ToggleProps = {
  readonly icon: IconName;
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
};

export function Toggle({ icon, label, isOn, onChange }: ToggleProps) {
  return (
    <IconButton
      icon={icon}
      label={label}
      variant={isOn ? "secondary" : "ghost"}
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    />
  );
}

export function FollowButton({ onFollow }: { readonly onFollow: () => void }) {
  return (
    <div className={styles.follow}>
      <Button icon="arrow-down" variant="primary" size="small" onClick={onFollow}>
        Follow the log
      </Button>
    </div>
  );
}

/** What stands beside each other in the bar above the lines. */
export const Tools = ({ children }: { readonly children: ReactNode }) => <div className={styles.tools}>{children}</div>;
