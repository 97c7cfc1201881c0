import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { accessExplain, identityList, ownershipList, userGet } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { ExactTime, RelativeTime } from "../../../ui/time.tsx";
import { RoleAssignments } from "../assignments/role-assignments.tsx";
import { principalKey, type Principal } from "../assignments/principal.ts";
import { useAccessPath } from "../shared/access-path.ts";
import styles from "../shared/panel.module.css";
import { UserActions } from "./user-actions.tsx";
import { UserIdentities } from "./user-identities.tsx";
import type { Invitation } from "./user-row.ts";
import { UserState } from "./user-state.tsx";

type UserPanelProps = {
  readonly userId: string;
  readonly scope: Scope;
  readonly invitation: Invitation | undefined;
  readonly onClose: () => void;
};

/** What one user is and holds, and what can be done with the account. */
export function UserPanel({ userId, scope, invitation, onClose }: UserPanelProps) {
  const ofAccount = useMay({});
  const may = useMay(scope);
  const base = useAccessPath();
  const { data: user, error } = useQuery(dataQuery(userGet, { path: { userId } }));
  if (user === undefined)
    return (
      <Dialog open placement="side" title="User" onClose={onClose}>
        {error === null ? <SkeletonLines lines={6} /> : <Notice tone="failed">{messageOf(error)}</Notice>}
      </Dialog>
    );
  const principal: Principal = { type: "USER", identifier: user.uuid, scopeLevel: "account" };
  return (
    <Dialog open placement="side" title={<Name>{user.name}</Name>} onClose={onClose}>
      <div className={styles.panel}>
        <KeyValues
          items={[
            { key: "E-mail", value: <Name>{user.email}</Name> },
            { key: "State", value: <UserState user={user} invitation={invitation} /> },
            { key: "Invitation ends", value: invitation && <RelativeTime at={invitation.expiresAt} /> },
            { key: "Kept in", value: user.externallyManaged ? "the directory that provides users" : undefined },
            { key: "Id", value: <code>{user.uuid}</code> },
            { key: "Created", value: <ExactTime at={user.createdAt} /> },
          ]}
        />
        <RoleAssignments scope={scope} principal={principal} name={user.name} />
        <ul className={styles.links}>
          {may(accessExplain) && (
            <li>
              <PathLink path={`${base}/permissions`} search={{ show: principalKey(principal) }}>
                What may this user do here, and why?
              </PathLink>
            </li>
          )}
          {ofAccount(ownershipList) && (
            <li>
              <PathLink path="/account/ownership" search={{ principal: principalKey(principal) }}>
                What stops when this user leaves?
              </PathLink>
            </li>
          )}
        </ul>
        {ofAccount(identityList) && <UserIdentities user={user} />}
        <UserActions user={user} isInvited={invitation !== undefined} onRemoved={onClose} />
      </div>
    </Dialog>
  );
}
