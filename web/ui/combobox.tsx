import { Popover } from "radix-ui";
import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { moveActive } from "../util/active-option.ts";
import styles from "./combobox.module.css";
import controls from "./control.module.css";
import { useFieldProps } from "./form-field.tsx";
import { Icon } from "./icon.tsx";
import { usePortalContainer } from "./portal.ts";
import { Spinner } from "./spinner.tsx";

export type ComboboxOption = {
  readonly value: string;
  readonly label: string;
  /** Second, quieter line, such as the identifier. */
  readonly hint?: string;
  readonly disabled?: boolean;
};

type ComboboxProps = {
  /** Only without a FormField around it. */
  readonly label?: string | undefined;
  /** Empty if nothing is selected. */
  readonly value: string;
  /** The text of the value while its option is not among the options. Default: the value. */
  readonly valueLabel?: string | undefined;
  readonly onChange: (value: string) => void;
  /** Undefined while they are being loaded. */
  readonly options: readonly ComboboxOption[] | undefined;
  /** Reports what is typed, to load options that match it. Without it the options are filtered here. */
  readonly onSearch?: ((text: string) => void) | undefined;
  /** What is typed is a value, too. */
  readonly allowsOther?: boolean | undefined;
  readonly placeholder?: string | undefined;
  readonly emptyText?: string | undefined;
  readonly disabled?: boolean | undefined;
};

/** A text field with a list of suggestions. The focus stays in the field; aria-activedescendant names the option. */
export function Combobox(props: ComboboxProps) {
  const { label, value, valueLabel, onChange, options, onSearch, allowsOther = false, placeholder, disabled } = props;
  const listId = useId();
  // Undefined while nothing is being typed: the field then shows the value.
  const [typed, setTyped] = useState<string>();
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const shown = matching(options, onSearch === undefined ? typed : undefined);
  const selectedLabel = options?.find((option) => option.value === value)?.label ?? valueLabel ?? value;
  const optionId = (index: number): string => `${listId}-${index}`;

  const close = (): void => {
    setIsOpen(false);
    setActive(-1);
    setTyped(undefined);
  };
  const choose = (option: ComboboxOption | undefined): void => {
    if (option?.disabled === true) return;
    if (option) onChange(option.value);
    close();
  };
  /** What was typed and not chosen counts only if other values are allowed. */
  const leave = (): void => {
    if (typed === "") onChange("");
    else if (typed !== undefined && allowsOther) onChange(typed.trim());
    close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = moveActive(event.key, active, shown ?? []);
    if (next !== undefined && (isOpen || event.key.startsWith("Arrow"))) {
      event.preventDefault();
      setIsOpen(true);
      setActive(next);
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();
      if (active >= 0) choose(shown?.[active]);
      else leave();
    } else if (event.key === "Escape" && isOpen) {
      // The dialog around the field stays open.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return (
    <Popover.Root open={isOpen}>
      <Popover.Anchor className={styles.combobox}>
        <input
          {...useFieldProps()}
          type="text"
          role="combobox"
          className={classNames(controls.control, styles.input)}
          aria-label={label}
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && active >= 0 ? optionId(active) : undefined}
          autoComplete="off"
          spellCheck={false}
          disabled={disabled}
          placeholder={placeholder}
          value={typed ?? selectedLabel}
          onChange={(event) => {
            setTyped(event.target.value);
            setIsOpen(true);
            setActive(-1);
            onSearch?.(event.target.value);
          }}
          onMouseDown={() => setIsOpen(true)}
          onFocus={(event) => event.target.select()}
          onBlur={leave}
          onKeyDown={onKeyDown}
        />
        <span className={styles.icon}>
          {options === undefined ? <Spinner size={14} /> : <Icon name="chevron-down" size={14} />}
        </span>
      </Popover.Anchor>
      <OptionList id={listId} label={label ?? "Suggestions"}>
        {shown?.map((option, index) => (
          <OptionItem
            key={option.value}
            id={optionId(index)}
            option={option}
            isActive={index === active}
            isSelected={option.value === value}
            onChoose={() => choose(option)}
          />
        ))}
        {(shown?.length ?? 0) === 0 && (
          <li className={styles.note} role="option" aria-selected={false} aria-disabled>
            {shown === undefined ? "Loading" : (props.emptyText ?? "Nothing matches.")}
          </li>
        )}
      </OptionList>
    </Popover.Root>
  );
}

type OptionListProps = { readonly id: string; readonly label: string; readonly children: ReactNode };

/** Stands outside of the form, so that no card or dialog cuts it off. The field keeps the focus. */
function OptionList({ id, label, children }: OptionListProps) {
  const keepFocus = (event: Event): void => event.preventDefault();
  return (
    <Popover.Portal container={usePortalContainer()}>
      <Popover.Content
        asChild
        align="start"
        sideOffset={4}
        collisionPadding={8}
        onOpenAutoFocus={keepFocus}
        onCloseAutoFocus={keepFocus}
      >
        <ul
          id={id}
          className={styles.list}
          role="listbox"
          aria-label={label}
          onMouseDown={(event) => event.preventDefault()}
        >
          {children}
        </ul>
      </Popover.Content>
    </Popover.Portal>
  );
}

type OptionItemProps = {
  readonly id: string;
  readonly option: ComboboxOption;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onChoose: () => void;
};

function OptionItem({ id, option, isActive, isSelected, onChoose }: OptionItemProps) {
  return (
    // The keyboard chooses an option in the field, which keeps the focus.
    <li
      id={id}
      ref={(element) => {
        if (isActive) element?.scrollIntoView({ block: "nearest" });
      }}
      className={classNames(styles.option, isActive && styles.active)}
      role="option"
      aria-selected={isSelected}
      aria-disabled={option.disabled}
      onClick={onChoose}
    >
      <span className={styles.text}>
        {option.label}
        {option.hint !== undefined && <span className={styles.hint}>{option.hint}</span>}
      </span>
      {isSelected && <Icon name="check" size={14} />}
    </li>
  );
}

function matching(options: readonly ComboboxOption[] | undefined, typed: string | undefined) {
  const wanted = typed?.trim().toLocaleLowerCase() ?? "";
  if (wanted === "") return options;
  return options?.filter(({ value, label }) => `${label}\n${value}`.toLocaleLowerCase().includes(wanted));
}
