import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import {
  invitationCreate,
  invitationList,
  userAggregates,
  userGroupAddMember,
  userGroupList,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ShownOnce } from "../../../components/shown-once.tsx";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import styles from "../shared/panel.module.css";
import { addUsers, parseEmails, type AddedUser } from "./add-users.ts";

const MOST = 100;

/** Creates users, and a link for each with which the person chooses a password. */
export function InviteUsers({ onClose }: { readonly onClose: () => void }) {
  const may = useMay({});
  const [text, setText] = useState("");
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set());
  const queryClient = useQueryClient();
  const emails = parseEmails(text);
  const mayInvite = may(invitationCreate);
  const invite = useMutation({
    mutationFn: () => addUsers(emails, { groups: [...groups], mayInvite }),
    onSettled: () =>
      Promise.all([userAggregates, invitationList].map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] }))),
  });
  if (invite.data !== undefined) return <Invited added={invite.data} onClose={onClose} />;
  const isTooMany = emails.length > MOST;
  return (
    <Dialog
      open
      title="Invite people"
      onClose={onClose}
      onSubmit={() => {
        if (emails.length > 0 && !isTooMany) invite.mutate();
      }}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" disabled={emails.length === 0 || isTooMany} busy={invite.isPending}>
            {mayInvite ? "Create invitation links" : "Create users"}
          </Button>
        </>
      }
    >
      {invite.error !== null && <Notice tone="failed">{messageOf(invite.error)}</Notice>}
      <FormLayout>
        <FormField
          label="E-mail addresses"
          required
          hint={
            mayInvite
              ? "One or several, separated by spaces or commas. No mail is sent: you give each person a link."
              : "One or several, separated by spaces or commas. An administrator gives them invitation links."
          }
          error={isTooMany && `At most ${MOST} at a time.`}
        >
          <TextArea rows={3} value={text} onChange={(event) => setText(event.target.value)} />
        </FormField>
        {may(userGroupAddMember) && <Groups chosen={groups} onChange={setGroups} />}
      </FormLayout>
    </Dialog>
  );
}

type GroupsProps = {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
};

/** The groups of the account that take members by hand. */
function Groups({ chosen, onChange }: GroupsProps) {
  const { data } = useQuery(dataQuery(userGroupList, { query: { pageSize: 100 } }));
  const groups = (data?.content ?? []).filter((group) => !group.platformManaged && !group.externallyManaged);
  if (groups.length === 0) return null;
  return (
    <fieldset className={styles.choices}>
      <legend>Groups</legend>
      {groups.map(({ identifier, name }) => (
        <Checkbox
          key={identifier}
          label={name}
          checked={chosen.has(identifier)}
          onChange={(isChosen) => {
            const next = new Set(chosen);
            if (isChosen) next.add(identifier);
            else next.delete(identifier);
            onChange(next);
          }}
        />
      ))}
    </fieldset>
  );
}

function Invited({ added, onClose }: { readonly added: readonly AddedUser[]; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      title={added.length === 1 ? "Invitation link" : "Invitation links"}
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className={styles.panel}>
        {added.map((one) =>
          one.kind === "invited" ? (
            <ShownOnce key={one.email} label={`Invitation link of ${one.email}`} value={one.link}>
              Send this link to {one.email}. Anyone who has the link can choose the password of the account.
            </ShownOnce>
          ) : (
            <Notice key={one.email} tone={one.kind === "failed" ? "failed" : "running"} title={one.email}>
              {one.message}
            </Notice>
          ),
        )}
      </div>
    </Dialog>
  );
}
