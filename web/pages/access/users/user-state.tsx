import { Badge } from "../../../ui/badge.tsx";
import { formatExactTime } from "../../../util/time.ts";
import type { Invitation, UserRow } from "./user-row.ts";

type UserStateProps = { readonly user: UserRow["user"]; readonly invitation: Invitation | undefined };

export function UserState({ user, invitation }: UserStateProps) {
  if (user.disabled)
    return (
      <Badge tone="aborted" icon="close">
        Deactivated
      </Badge>
    );
  if (user.locked)
    return (
      <Badge tone="waiting" icon="lock" title="Sign-in pauses after failed attempts">
        Sign-in paused
      </Badge>
    );
  if (invitation)
    return (
      <Badge tone="waiting" icon="mail" title={`Until ${formatExactTime(invitation.expiresAt)}`}>
        Invited
      </Badge>
    );
  return (
    <Badge tone="success" icon="check">
      Active
    </Badge>
  );
}
