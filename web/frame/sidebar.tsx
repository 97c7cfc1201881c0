import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
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
  return groups.map(({ label, items }) => (
    <section key={label} aria-label={label}>
      <h2 className={styles.label}>{label}</h2>
      <ul>
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
  ));
}
