import { Popover as RadixPopover } from "radix-ui";
import type { ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./popover.module.css";
import { usePortalContainer } from "./portal.ts";

type PopoverProps = {
  /** One button, which opens the popover. */
  readonly trigger: ReactNode;
  /** The accessible name of the content. */
  readonly label: string;
  readonly align?: "start" | "center" | "end" | undefined;
  /** The content touches the border, as lists do. */
  readonly flush?: boolean | undefined;
  /** Both, if the state belongs to the caller. */
  readonly open?: boolean | undefined;
  readonly onOpenChange?: ((open: boolean) => void) | undefined;
  readonly children: ReactNode;
};

/** Content beside a button. Esc and a click elsewhere close it. */
export function Popover({ trigger, label, align = "start", flush, open, onOpenChange, children }: PopoverProps) {
  const container = usePortalContainer();
  const state = { ...(open === undefined ? {} : { open }), ...(onOpenChange === undefined ? {} : { onOpenChange }) };
  return (
    <RadixPopover.Root {...state}>
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal container={container}>
        <RadixPopover.Content
          className={classNames(styles.popover, flush !== true && styles.padded)}
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
        >
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  );
}
