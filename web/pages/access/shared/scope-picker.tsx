import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { dataQuery } from "../../../api/client.ts";
import { organizationList } from "../../../api/operations.gen.ts";
import { usePageScope } from "../../../routes/scope.ts";
import { Name } from "../../../ui/name.tsx";
import { Select } from "../../../ui/select.tsx";
import { accessPathOf, useAccessPath } from "./access-path.ts";
import styles from "./panel.module.css";

const ACCOUNT = "account";

/** Says whose access the page shows, and leads to that of the account and of its organizations. */
export function ScopePicker() {
  const scope = usePageScope();
  return scope.projectIdentifier === undefined ? (
    <AccountOrOrganization current={scope.orgIdentifier} />
  ) : (
    <span>
      Project <Name>{scope.projectIdentifier}</Name>
    </span>
  );
}

function AccountOrOrganization({ current }: { readonly current: string | undefined }) {
  const base = useAccessPath();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const { data } = useQuery(dataQuery(organizationList, { query: { pageSize: 100 } }));
  const organizations = (data?.content ?? []).map(({ organization }) => ({
    value: `org:${organization.identifier}`,
    label: `Organization ${organization.name}`,
  }));
  const [tab = "users"] = pathname.slice(base.length + 1).split("/");
  return (
    <Select
      size="small"
      className={styles.picker}
      aria-label="Scope"
      value={current === undefined ? ACCOUNT : `org:${current}`}
      options={[{ value: ACCOUNT, label: "Account" }, ...organizations]}
      onChange={(value) =>
        void navigate({ to: `${accessPathOf(value === ACCOUNT ? undefined : value.slice(4))}/${tab}` as "/" })
      }
    />
  );
}
