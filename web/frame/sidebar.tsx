import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "@tanstack/react-router";
import { useId, useState } from "react";
import { mayOnSome, permissionsQuery, type Scope } from "../api/permissions.ts";
import { projectPath, recentProject, rememberProject } from "../api/recent-project.ts";
import { Icon } from "../ui/icon.tsx";
import { Rails } from "./rails.tsx";
import { ACCOUNT_NAVIGATION, PROJECT_NAVIGATION, visibleGroups, type NavigationGroup } from "./navigation.ts";
import { ProjectPicker } from "./project-picker.tsx";
import { UserMenu } from "./user-menu.tsx";
import styles from "./sidebar.module.css";

export function Sidebar({ onSearch }: { readonly onSearch: () => void }) {
  const { org, project } = useParams({ strict: false });
  if (org !== undefined && project !== undefined) rememberProject({ org, project });
  const current = org !== undefined && project !== undefined ? { org, project } : recentProject();
  return (
    <nav className={styles.sidebar} aria-label="Main">
      <div className={styles.head}>
        <Link to="/" className={styles.brand}>
          <Rails /> Railhead
        </Link>
      </div>
      <button type="button" className={styles.search} onClick={onSearch}>
        <Icon name="search" /> <span>Search</span> <kbd>Ctrl K</kbd>
      </button>
      <ProjectPicker current={current} />
      <div className={styles.links}>
        {current !== undefined && (
          <Links
            groups={PROJECT_NAVIGATION}
            scope={{ orgIdentifier: current.org, projectIdentifier: current.project }}
            base={projectPath(current)}
          />
        )}
        <Links groups={ACCOUNT_NAVIGATION} scope={{}} base="" />
      </div>
      <UserMenu />
    </nav>
  );
}

type LinksProps = { readonly groups: readonly NavigationGroup[]; readonly scope: Scope; readonly base: string };

/** Shows nothing until it is known what the user may see. */
function Links({ groups, scope, base }: LinksProps) {
  const { data } = useQuery(permissionsQuery(scope));
  const { data: ofAccount } = useQuery(permissionsQuery({}));
  if (data === undefined || ofAccount === undefined) return null;
  return <Groups groups={visibleGroups(groups, mayOnSome(data), mayOnSome(ofAccount))} base={base} />;
}

function Groups({ groups, base }: { readonly groups: readonly NavigationGroup[]; readonly base: string }) {
  return groups.map((group) => <Group key={group.label} group={group} base={base} />);
}

/** Closed, as long as the user has not opened it, where the pages of the other scope are what is worked with. */
function Group({ group: { label, items, scope }, base }: { readonly group: NavigationGroup; readonly base: string }) {
  const { project } = useParams({ strict: false });
  const isOfAccountPage = useLocation({ select: ({ pathname }) => pathname.startsWith("/account") });
  const [chosen, setChosen] = useState<boolean>();
  const isOpen =
    chosen ?? !((scope === "account" && project !== undefined) || (scope === "project" && isOfAccountPage));
  const listId = useId();
  return (
    <section aria-label={label}>
      <h2 className={styles.heading}>
        <button
          type="button"
          className={styles.label}
          aria-expanded={isOpen}
          aria-controls={listId}
          onClick={() => setChosen(!isOpen)}
        >
          {label}
          <Icon name={isOpen ? "chevron-down" : "chevron-right"} size={12} />
        </button>
      </h2>
      <ul id={listId} hidden={!isOpen}>
        {items.map((item) => (
          <li key={item.path}>
            <Link
              to={base === "" ? item.path : item.path === "" ? base : `${base}/${item.path}`}
              activeOptions={{ exact: item.path === "", includeSearch: false }}
              className={styles.link}
            >
              <Icon name={item.icon} /> {item.label}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
