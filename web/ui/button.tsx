import type { ComponentProps } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./button.module.css";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";

export type ButtonLook = {
  readonly variant?: "primary" | "secondary" | "ghost" | "danger" | undefined;
  readonly size?: "small" | "normal" | undefined;
};

export type ButtonProps = ComponentProps<"button"> &
  ButtonLook & {
    readonly icon?: IconName | undefined;
    /** After the text, where it shows the direction or a menu. */
    readonly trailingIcon?: IconName | undefined;
    /** Work that the button started is in progress: it keeps its size and its focus, and takes no further clicks. */
    readonly busy?: boolean | undefined;
  };

export const buttonClass = ({ variant = "secondary", size = "normal" }: ButtonLook, className?: string): string =>
  classNames(styles.button, styles[variant], size === "small" && styles.small, className);

export function Button(props: ButtonProps) {
  const { variant, size, icon, trailingIcon, busy = false, className, children, onClick, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={buttonClass({ variant, size }, classNames(busy && styles.busy, className))}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <ButtonContent icon={icon} trailingIcon={trailingIcon}>
        {children}
      </ButtonContent>
      {busy && (
        <span className={styles.spinner}>
          <Spinner size={14} />
        </span>
      )}
    </button>
  );
}

type ButtonContentProps = Pick<ButtonProps, "icon" | "trailingIcon" | "children">;

export function ButtonContent({ icon, trailingIcon, children }: ButtonContentProps) {
  return (
    <span className={styles.content}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
      {trailingIcon !== undefined && <Icon name={trailingIcon} size={14} />}
    </span>
  );
}

export type IconButtonProps = Omit<ButtonProps, "children" | "icon" | "trailingIcon" | "aria-label"> & {
  readonly icon: IconName;
  /** The accessible name, also shown on hover. */
  readonly label: string;
};

export function IconButton({ label, icon, variant = "ghost", className, ...rest }: IconButtonProps) {
  return (
    <Button
      title={label}
      {...rest}
      variant={variant}
      aria-label={label}
      className={classNames(styles.square, className)}
    >
      <Icon name={icon} size={16} />
    </Button>
  );
}
