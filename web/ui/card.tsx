import { useId, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./card.module.css";

type CardProps = {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** The content touches the border, as tables and lists do. */
  readonly flush?: boolean | undefined;
  readonly children: ReactNode;
};

/** A part of a page with a border and, mostly, a heading. */
export function Card({ title, description, actions, flush, children }: CardProps) {
  const id = useId();
  const hasTitle = title !== undefined;
  return (
    <section className={styles.card} aria-labelledby={hasTitle ? id : undefined}>
      {hasTitle && (
        <header className={styles.header}>
          <div className={styles.heading}>
            <h2 className={styles.title} id={id}>
              {title}
            </h2>
            {description !== undefined && <p className={styles.description}>{description}</p>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      <div className={classNames(flush !== true && styles.body)}>{children}</div>
    </section>
  );
}

/** A part of a page without a border. */
export function Section({ title, description, actions, children }: Omit<CardProps, "flush">) {
  const id = useId();
  const hasTitle = title !== undefined;
  return (
    <section className={styles.section} aria-labelledby={hasTitle ? id : undefined}>
      {hasTitle && (
        <header className={styles.sectionHeader}>
          <div className={styles.heading}>
            <h2 className={styles.title} id={id}>
              {title}
            </h2>
            {description !== undefined && <p className={styles.description}>{description}</p>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
