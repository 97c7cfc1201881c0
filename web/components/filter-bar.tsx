import { useState, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { Popover } from "../ui/popover.tsx";
import type { Option } from "../ui/select.tsx";
import { TextField } from "../ui/text-field.tsx";
import styles from "./filter-bar.module.css";

export type FilterValues = Readonly<Record<string, readonly string[]>>;

export type FilterEditorProps = {
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
};

export type Filter = {
  readonly key: string;
  readonly label: string;
  /** Several may be selected. Without options and editor the filter is a text. */
  readonly options?: readonly Option[];
  /** For values that neither options nor a text can express, such as ranges. */
  readonly editor?: (props: FilterEditorProps) => ReactNode;
  /** What the chip says of a value. Default: the label of its option, or the value. */
  readonly describe?: (value: string) => string;
};

type FilterBarProps = {
  readonly filters: readonly Filter[];
  /** As the address has them; filters without values are left out. */
  readonly values: FilterValues;
  readonly onChange: (values: FilterValues) => void;
  /** The search field, before the filters. */
  readonly search?: ReactNode;
  /** At the end of the bar. */
  readonly actions?: ReactNode;
};

/** Filters of a list: a chip for each that is set, and a menu with the others. */
export function FilterBar({ filters, values, onChange, search, actions }: FilterBarProps) {
  // A filter that was added and has no value yet.
  const [added, setAdded] = useState<string>();
  const isSet = ({ key }: Filter): boolean => (values[key]?.length ?? 0) > 0;
  const shown = filters.filter((filter) => isSet(filter) || filter.key === added);
  const others = filters.filter((filter) => !shown.includes(filter));
  const change = (key: string, next: readonly string[]): void => {
    const { [key]: _, ...rest } = values;
    onChange(next.length === 0 ? rest : { ...rest, [key]: next });
  };
  return (
    <div className={styles.bar} role="group" aria-label="Filters">
      {search}
      {shown.map((filter) => (
        <FilterChip
          key={filter.key}
          filter={filter}
          values={values[filter.key] ?? []}
          isAdded={filter.key === added}
          onChange={(next) => change(filter.key, next)}
          onClose={() => setAdded(undefined)}
        />
      ))}
      {others.length > 0 && (
        <Menu
          align="start"
          leavesFocus
          trigger={
            <Button variant="ghost" icon="filter">
              Add filter
            </Button>
          }
        >
          {others.map(({ key, label }) => (
            <MenuItem key={key} onSelect={() => setAdded(key)}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      )}
      {filters.some(isSet) && (
        <Button variant="ghost" onClick={() => onChange({})}>
          Clear filters
        </Button>
      )}
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

type FilterChipProps = FilterEditorProps & {
  readonly filter: Filter;
  readonly isAdded: boolean;
  readonly onClose: () => void;
};

function FilterChip({ filter, values, isAdded, onChange, onClose }: FilterChipProps) {
  const [isOpen, setIsOpen] = useState(isAdded);
  const summary = describe(filter, values);
  return (
    <span className={styles.chip}>
      <Popover
        label={filter.label}
        open={isOpen}
        onOpenChange={(open) => {
          setIsOpen(open);
          if (!open) onClose();
        }}
        trigger={
          <button type="button" className={styles.open} title={`${filter.label}: ${summary}`}>
            <span className={styles.name}>{filter.label}</span>
            <span className={styles.values}>{summary}</span>
          </button>
        }
      >
        <FilterEditor
          filter={filter}
          values={values}
          onChange={onChange}
          onDone={() => {
            setIsOpen(false);
            onClose();
          }}
        />
      </Popover>
      {values.length > 0 && (
        <button
          type="button"
          className={styles.remove}
          aria-label={`Remove the filter ${filter.label}`}
          onClick={() => onChange([])}
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

function describe({ options, describe: own }: Filter, values: readonly string[]): string {
  if (values.length === 0) return "any";
  const words = values.map(
    (value) => own?.(value) ?? options?.find((option) => option.value === value)?.label ?? value,
  );
  return words.length > 2 ? `${words.slice(0, 2).join(", ")} +${words.length - 2}` : words.join(", ");
}

function FilterEditor(props: FilterEditorProps & { readonly filter: Filter; readonly onDone: () => void }) {
  const { filter, values, onChange, onDone } = props;
  const [text, setText] = useState(values[0] ?? "");
  if (filter.editor) return filter.editor({ values, onChange });
  if (filter.options)
    return (
      <div className={styles.options}>
        {filter.options.map(({ value, label }) => (
          <Checkbox
            key={value}
            label={label}
            checked={values.includes(value)}
            onChange={(isChecked) => onChange(isChecked ? [...values, value] : values.filter((it) => it !== value))}
          />
        ))}
      </div>
    );
  return (
    <form
      className={styles.text}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim() === "" ? [] : [text.trim()]);
        onDone();
      }}
    >
      <TextField
        aria-label={filter.label}
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </form>
  );
}
