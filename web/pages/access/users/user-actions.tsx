import { useState } from "react";
import { fetchData, type DataOf } from "../../../api/client.ts";
import {
  invitationCreate,
  invitationList,
  invitationRevoke,
  userAggregates,
  userDeactivate,
  userDelete,
  userGet,
  userReactivate,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { currentSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { DeleteItem } from "../shared/delete-item.tsx";
import styles from "../shared/panel.module.css";
import { MakeCredential } from "./make-credential.tsx";
import { StoppedResources } from "./stopped-resources.tsx";

type User = DataOf<typeof userGet>;
type UserActionsProps = { readonly user: User; readonly isInvited: boolean; readonly onRemoved: () => void };
type Open = "none" | "invite" | "password" | "revoke" | "deactivate" | "reactivate" | "remove";

const LISTS = [userAggregates, userGet, invitationList];

/** Ways to sign in, and the end of the account. The own account is not ended here. */
export function UserActions({ user, isInvited, onRemoved }: UserActionsProps) {
  const may = useMay({});
  const [open, setOpen] = useState<Open>("none");
  const close = (): void => setOpen("none");
  const path = { userId: user.uuid };
  if (!may(userDelete) || user.uuid === currentSession().user.id) return null;
  const common = { name: user.name, lists: LISTS, onClose: close };
  return (
    <Section title="Account">
      <div className={styles.actions}>
        {!user.disabled && may(invitationCreate) && (
          <>
            <Button icon="mail" onClick={() => setOpen("invite")}>
              {isInvited ? "New invitation link" : "Invitation link"}
            </Button>
            {isInvited && <Button onClick={() => setOpen("revoke")}>Revoke invitation</Button>}
            <Button icon="key" onClick={() => setOpen("password")}>
              One-time password
            </Button>
          </>
        )}
        {user.disabled ? (
          <Button onClick={() => setOpen("reactivate")}>Reactivate</Button>
        ) : (
          <Button onClick={() => setOpen("deactivate")}>Deactivate</Button>
        )}
        <Button variant="ghost" icon="trash" onClick={() => setOpen("remove")}>
          Remove user
        </Button>
      </div>
      {(open === "invite" || open === "password") && <MakeCredential kind={open} user={user} onClose={close} />}
      {open === "revoke" && (
        <DeleteItem
          {...common}
          action="Revoke invitation of"
          outcome="has no invitation any more"
          remove={() => fetchData(invitationRevoke, { path })}
        >
          The link that was sent to {user.email} is refused from then on.
        </DeleteItem>
      )}
      {open === "deactivate" && (
        <DeleteItem
          {...common}
          action="Deactivate"
          outcome="was deactivated"
          remove={() => fetchData(userDeactivate, { path })}
        >
          Sessions, API keys and memberships in groups end within a second, for good.
          <StoppedResources user={user} />
        </DeleteItem>
      )}
      {open === "reactivate" && (
        <DeleteItem
          {...common}
          action="Reactivate"
          outcome="was reactivated"
          danger={false}
          remove={() => fetchData(userReactivate, { path })}
        >
          Own roles count again. Keys and memberships do not come back.
        </DeleteItem>
      )}
      {open === "remove" && (
        <DeleteItem
          {...common}
          action="Remove user"
          outcome="was removed"
          typedName={user.email}
          remove={() => fetchData(userDelete, { path })}
          // The open panel must not ask for the removed user.
          lists={[userAggregates, invitationList]}
          onRemoved={onRemoved}
        >
          Sessions, API keys, roles and memberships end within a second. This cannot be undone.
          <StoppedResources user={user} />
        </DeleteItem>
      )}
    </Section>
  );
}
