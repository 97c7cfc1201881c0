import { Fragment, type ReactNode } from "react";
import { Icon } from "./icon.tsx";
import styles from "./page-header.module.css";

type PageHeaderProps = {
  readonly title: ReactNode;
  /** The level of the heading, where the header is not that of the whole page. */
  readonly level?: 1 | 2 | 3 | undefined;
  /** Links to the pages above this one, the outermost first. */
  readonly breadcrumbs?: readonly ReactNode[] | undefined;
  /** Beside the title: the status. */
  readonly status?: ReactNode;
  /** Below the title: who, when, how long. */
  readonly meta?: ReactNode;
  /** The last one is the main action. */
  readonly actions?: ReactNode;
  /** Tabs that belong to the page. */
  readonly tabs?: ReactNode;
};

export function PageHeader({ title, level = 1, breadcrumbs = [], status, meta, actions, tabs }: PageHeaderProps) {
  const Heading = `h${level}` as const;
  return (
    <header className={styles.header}>
      {breadcrumbs.length > 0 && (
        <nav aria-label="Breadcrumbs">
          <ol className={styles.breadcrumbs}>
            {breadcrumbs.map((crumb, index) => (
              // The crumbs of a page keep their order.
              <Fragment key={index}>
                <li className={styles.crumb}>{crumb}</li>
                <li className={styles.separator} aria-hidden>
                  <Icon name="chevron-right" size={12} />
                </li>
              </Fragment>
            ))}
          </ol>
        </nav>
      )}
      <div className={styles.row}>
        <div className={styles.heading}>
          <Heading className={styles.title}>{title}</Heading>
          {status}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {meta !== undefined && <div className={styles.meta}>{meta}</div>}
      {tabs}
    </header>
  );
}
