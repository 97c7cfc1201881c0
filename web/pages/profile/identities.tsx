import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../api/client.ts";
import { identityListOwn, identityUnlinkOwn, singleSignOnLink } from "../../api/operations.gen.ts";
import { currentSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Name } from "../../ui/name.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./profile-page.module.css";

type Identity = DataOf<typeof identityListOwn>[number];

/** Identities of the provider with which the user can sign in. */
export function Identities() {
  const { openIdConnect } = currentSession();
  const list = useQuery(dataQuery(identityListOwn, {}));
  const [unlinked, setUnlinked] = useState<Identity>();
  const link = useMutation({
    mutationFn: () => fetchData(singleSignOnLink, {}),
    onSuccess: ({ location: target }) => location.assign(target),
  });
  const provider = openIdConnect?.name;
  const linkButton = provider !== undefined && (
    <Button icon="link" busy={link.isPending} onClick={() => link.mutate()}>
      Link an identity of <Name>{provider}</Name>
    </Button>
  );
  if (list.error !== null)
    return <ErrorState title="The identities could not be loaded" message={messageOf(list.error)} />;
  return (
    <div className={styles.parts}>
      {link.error !== null && <Notice tone="failed">{messageOf(link.error)}</Notice>}
      <Table
        label="Linked identities"
        columns={columnsFor(setUnlinked)}
        rows={list.data}
        rowKey={({ id }) => id}
        placeholderRows={1}
        empty={
          <EmptyState icon="user" title="No linked identities" actions={linkButton}>
            {provider === undefined
              ? "Single sign-on is not configured on this server."
              : "Link an identity to sign in without your password."}
          </EmptyState>
        }
      />
      {(list.data?.length ?? 0) > 0 && linkButton && <div className={styles.bar}>{linkButton}</div>}
      {unlinked && <UnlinkIdentity identity={unlinked} onClose={() => setUnlinked(undefined)} />}
    </div>
  );
}

function UnlinkIdentity({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const show = useToast();
  const unlink = useMutation({
    mutationFn: () => fetchData(identityUnlinkOwn, { path: { identityId: identity.id } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [identityListOwn.id] });
      show({ tone: "success", message: "The identity was unlinked." });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title="Unlink this identity?"
      action="Unlink identity"
      busy={unlink.isPending}
      error={unlink.error === null ? undefined : messageOf(unlink.error)}
      onConfirm={() => unlink.mutate()}
      onClose={onClose}
    >
      You can no longer sign in as <Name>{identity.subject}</Name> of <Name>{identity.issuer}</Name>.
    </ConfirmDialog>
  );
}

const columnsFor = (unlink: (identity: Identity) => void): readonly Column<Identity>[] => [
  { key: "issuer", header: "Provider", isTitle: true, cell: ({ issuer }) => <Name>{issuer}</Name> },
  { key: "subject", header: "Subject", cell: ({ subject }) => <Name>{subject}</Name> },
  { key: "linked", header: "Linked", width: "9rem", cell: ({ linkedAt }) => <RelativeTime at={linkedAt} /> },
  {
    key: "used",
    header: "Last used",
    width: "9rem",
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <RelativeTime at={lastUsedAt} />),
  },
  {
    key: "unlink",
    header: "Unlink",
    hideHeader: true,
    align: "end",
    width: "7rem",
    cell: (identity) => (
      <Button size="small" onClick={() => unlink(identity)}>
        Unlink
      </Button>
    ),
  },
];
