import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select, type Option } from "../../../ui/select.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./usage-scope.module.css";
import {
  ALL,
  applicationsQuery,
  ENVIRONMENT_KINDS,
  environmentsQuery,
  FIRST_ENTRY,
  type Entry,
  type Named,
} from "./usage-scope.ts";

type ScopeEntriesProps = {
  readonly entries: readonly Entry[];
  readonly onChange: (entries: readonly Entry[]) => void;
};

/** The API takes no more. */
const MOST_ENTRIES = 100;

/** Lines of a project and an environment each. */
export function ScopeEntries({ entries, onChange }: ScopeEntriesProps) {
  const applications = useQuery(applicationsQuery);
  if (applications.error !== null) return <Notice tone="failed">{messageOf(applications.error)}</Notice>;
  return (
    <div className={styles.entries} role="group" aria-label="Projects and environments">
      {entries.map((entry, index) => (
        // Lines may be equal while they are being edited.
        <EntryLine
          key={index}
          number={index + 1}
          entry={entry}
          applications={applications.data}
          onChange={(next) => onChange(entries.with(index, next))}
          onRemove={() => onChange(entries.toSpliced(index, 1))}
        />
      ))}
      {entries.length < MOST_ENTRIES && (
        <div>
          <Button size="small" icon="plus" onClick={() => onChange([...entries, FIRST_ENTRY])}>
            Add
          </Button>
        </div>
      )}
    </div>
  );
}

type EntryLineProps = {
  readonly number: number;
  readonly entry: Entry;
  readonly applications: readonly Named[] | undefined;
  readonly onChange: (entry: Entry) => void;
  readonly onRemove: () => void;
};

function EntryLine({ number, entry, applications, onChange, onRemove }: EntryLineProps) {
  const environments = useQuery(environmentsQuery(entry.application));
  return (
    <div className={styles.entry}>
      <Select
        aria-label={`Project ${number}`}
        value={entry.application}
        options={withValue([{ value: ALL, label: "All projects" }, ...optionsOf(applications)], entry.application)}
        onChange={(application) =>
          onChange({
            application,
            // Other environments belong to the former project.
            environment: isKind(entry.environment) ? entry.environment : FIRST_ENTRY.environment,
          })
        }
      />
      <Select
        aria-label={`Environment ${number}`}
        value={entry.environment}
        options={withValue([...ENVIRONMENT_KINDS, ...optionsOf(environments.data)], entry.environment)}
        onChange={(environment) => onChange({ ...entry, environment })}
      />
      <IconButton icon="trash" label={`Remove line ${number}`} onClick={onRemove} />
    </div>
  );
}

const isKind = (environment: string): boolean => ENVIRONMENT_KINDS.some(({ value }) => value === environment);

const optionsOf = (named: readonly Named[] | undefined): readonly Option[] =>
  (named ?? []).map(({ id, name }) => ({ value: id, label: visibleText(name) }));

/** What the user may not see keeps its place, by its id. */
const withValue = (options: readonly Option[], value: string): readonly Option[] =>
  options.some((option) => option.value === value) ? options : [...options, { value, label: value }];
