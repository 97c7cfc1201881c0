import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useId, useState, type KeyboardEvent as ReactKeyboardEvent } from "react";
import { recentProject } from "../api/recent-project.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Name } from "../ui/name.tsx";
import { TextField } from "../ui/text-field.tsx";
import { useDebounced } from "../util/use-debounced.ts";
import { findPages, matching, searchProject, type PaletteEntry } from "./palette-entries.ts";
import styles from "./command-palette.module.css";

/** Opens the palette by Ctrl K or ⌘K, also from a text field. */
export function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [open]);
}

type PaletteProps = { readonly open: boolean; readonly onClose: () => void };

/** Finds pages, pipelines and executions by name. Each opening begins anew. */
export const CommandPalette = ({ open, onClose }: PaletteProps) => (open ? <OpenPalette onClose={onClose} /> : null);

function OpenPalette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const navigate = useNavigate();
  const entries = useEntries(text);
  const at = Math.min(chosen, Math.max(0, entries.length - 1));

  const go = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    void navigate({ to: entry.to });
  };
  const onKeyDown = (event: ReactKeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined && entries.length > 0) {
      event.preventDefault();
      setChosen((at + move + entries.length) % entries.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(entries[at]);
    }
  };

  return (
    <Dialog open title="Go to" onClose={onClose}>
      <TextField
        role="combobox"
        aria-label="Search pages, pipelines and executions"
        aria-expanded={entries.length > 0}
        aria-controls={listId}
        aria-activedescendant={entries[at] === undefined ? undefined : `${listId}-${at}`}
        placeholder="Go to a page, pipeline or execution"
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
      />
      <ul className={styles.list} hidden={entries.length === 0} id={listId} role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          // The text field has the keyboard: arrows move the selection, Enter follows it.
          <li
            key={entry.to}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            className={styles.entry}
            onMouseMove={() => setChosen(index)}
            onClick={() => go(entry)}
          >
            <Icon name={entry.icon} />
            <span className={styles.label}>
              <Name>{entry.label}</Name>
            </span>
            <span className={styles.detail}>{entry.detail}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && (
        <p className={styles.none} role="status">
          Nothing has this name.
        </p>
      )}
    </Dialog>
  );
}

const PAUSE_MS = 150;

/** Pages follow each letter; what the API finds follows when typing pauses. */
function useEntries(text: string): readonly PaletteEntry[] {
  const { org, project } = useParams({ strict: false });
  const current = org !== undefined && project !== undefined ? { org, project } : recentProject();
  const words = text.trim();
  const searched = useDebounced(words, PAUSE_MS);
  const { data: pages = [] } = useQuery({ queryKey: ["palette", current], queryFn: () => findPages(current) });
  const { data: found = [] } = useQuery({
    queryKey: ["palette", current, searched],
    queryFn: ({ signal }) => (current === undefined || searched === "" ? [] : searchProject(current, searched, signal)),
  });
  return [...matching(pages, words), ...(searched === words ? found : [])];
}
