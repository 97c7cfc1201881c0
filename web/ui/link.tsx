import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { buttonClass, ButtonContent, type ButtonLook } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./link.module.css";

type AnchorProps = ComponentProps<"a"> & {
  /** `quiet` has the colour of the text around it, for names in lists and headings. */
  readonly look?: "link" | "quiet" | undefined;
};

function Anchor({ look = "link", className, children, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={classNames(look === "quiet" && styles.quiet, className)}>
      {children}
    </a>
  );
}

/** A link to a page of this site. */
export const Link = createLink(Anchor);

type PathLinkProps = Pick<AnchorProps, "look" | "className" | "children" | "onClick"> & {
  /** A path that was put together, which the router's types do not know. */
  readonly path: string;
  readonly search?: Readonly<Record<string, string>> | undefined;
};

/** A link to a page whose address is computed. */
export const PathLink = ({ path, search = {}, look, className, children, onClick }: PathLinkProps) => (
  <Link
    to={path as "/"}
    search={search}
    look={look}
    className={className}
    {...(onClick === undefined ? {} : { onClick })}
  >
    {children}
  </Link>
);

type ButtonAnchorProps = ComponentProps<"a"> & ButtonLook & { readonly icon?: IconName | undefined };

function ButtonAnchor({ variant, size, icon, className, children, ...rest }: ButtonAnchorProps) {
  return (
    <a {...rest} className={buttonClass({ variant, size }, className)}>
      <ButtonContent icon={icon}>{children}</ButtonContent>
    </a>
  );
}

/** A link that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);

type ButtonPathLinkProps = ButtonLook & {
  readonly path: string;
  readonly icon?: IconName | undefined;
  readonly children: ReactNode;
};

/** The same for a page whose address is computed. */
export const ButtonPathLink = ({ path, ...rest }: ButtonPathLinkProps) => <ButtonLink to={path as "/"} {...rest} />;

/** A link to another site. The target learns nothing of this page. */
export function ExternalLink({ children, className, ...rest }: ComponentProps<"a">) {
  return (
    <a {...rest} target="_blank" rel="noopener noreferrer" className={classNames(styles.external, className)}>
      {children}
      <Icon name="external" size={12} label="(opens a new tab)" />
    </a>
  );
}
