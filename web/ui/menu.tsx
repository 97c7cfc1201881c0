import { DropdownMenu } from "radix-ui";
import { useState, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./menu.module.css";
import { usePortalContainer } from "./portal.ts";

type MenuProps = {
  /** One button, which opens the menu. */
  readonly trigger: ReactNode;
  readonly align?: "start" | "end" | undefined;
  /** Its items move the focus themselves, as by opening a popover. Otherwise it returns to the trigger. */
  readonly leavesFocus?: boolean | undefined;
  readonly children: ReactNode;
};

export function Menu({ trigger, align = "end", leavesFocus = false, children }: MenuProps) {
  // Known here, because the container is looked up when the menu opens.
  const [isOpen, setIsOpen] = useState(false);
  const container = usePortalContainer();
  return (
    // A modal menu would add style elements, which the policy of the pages forbids.
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={setIsOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          className={styles.menu}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          loop
          onCloseAutoFocus={(event) => {
            if (leavesFocus) event.preventDefault();
          }}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type MenuItemProps = {
  readonly icon?: IconName | undefined;
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** Second, quieter text, such as a shortcut. */
  readonly hint?: ReactNode;
  readonly onSelect?: ((event: Event) => void) | undefined;
  /** The only child is a link. */
  readonly asLink?: boolean | undefined;
  readonly children: ReactNode;
};

export function MenuItem({ icon, danger, disabled, hint, onSelect, asLink, children }: MenuItemProps) {
  const className = classNames(styles.item, danger === true && styles.danger);
  const options = {
    className,
    ...(disabled === undefined ? {} : { disabled }),
    ...(onSelect === undefined ? {} : { onSelect }),
  };
  if (asLink === true)
    return (
      <DropdownMenu.Item {...options} asChild>
        {children}
      </DropdownMenu.Item>
    );
  return (
    <DropdownMenu.Item {...options}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      <span className={styles.text}>{children}</span>
      {hint !== undefined && <span className={styles.hint}>{hint}</span>}
    </DropdownMenu.Item>
  );
}

type MenuCheckItemProps = {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ReactNode;
};

/** An item that stays open when it is chosen. */
export function MenuCheckItem({ checked, onChange, children }: MenuCheckItemProps) {
  return (
    <DropdownMenu.CheckboxItem
      className={styles.item}
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
    >
      <span className={styles.mark}>{checked && <Icon name="check" size={14} />}</span>
      <span className={styles.text}>{children}</span>
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <DropdownMenu.Label className={styles.label}>{children}</DropdownMenu.Label>;
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className={styles.separator} />;
}
