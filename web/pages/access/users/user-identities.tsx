import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { identityAllowLink, identityList, identityUnlink } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { currentSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { formatExactTime } from "../../../util/time.ts";
import { DeleteItem } from "../shared/delete-item.tsx";
import styles from "../shared/panel.module.css";

type Identity = DataOf<typeof identityList>[number];
type User = { readonly uuid: string; readonly name: string; readonly disabled: boolean };

/** Identities of the provider with which the user can sign in. Not shown without any and without a provider. */
export function UserIdentities({ user }: { readonly user: User }) {
  const may = useMay({});
  const show = useToast();
  const { openIdConnect } = currentSession();
  const [unlinked, setUnlinked] = useState<Identity>();
  const path = { userId: user.uuid };
  const { data = [], error } = useQuery(dataQuery(identityList, { path }));
  const allow = useMutation({
    mutationFn: () => fetchData(identityAllowLink, { path }),
    onSuccess: ({ until }) =>
      show({ tone: "success", message: `${user.name} can link an identity until ${formatExactTime(until)}.` }),
  });
  if (error === null && data.length === 0 && openIdConnect === null) return null;
  return (
    <Section
      title="Linked identities"
      actions={
        openIdConnect !== null &&
        may(identityAllowLink) &&
        !user.disabled && (
          <Button size="small" icon="link" busy={allow.isPending} onClick={() => allow.mutate()}>
            Allow a link by e-mail
          </Button>
        )
      }
    >
      {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
      {allow.error !== null && <Notice tone="failed">{messageOf(allow.error)}</Notice>}
      {data.length === 0 && error === null && <p className={styles.none}>None.</p>}
      <ul className={styles.rows}>
        {data.map((identity) => (
          <li key={identity.id} className={styles.row}>
            <span className={styles.text}>
              <Name>{identity.subject}</Name>
              <span className={styles.none}>
                <Name>{identity.issuer}</Name>, linked <RelativeTime at={identity.linkedAt} />
              </span>
            </span>
            {may(identityUnlink) && (
              <Button size="small" aria-label={`Unlink ${identity.subject}`} onClick={() => setUnlinked(identity)}>
                Unlink
              </Button>
            )}
          </li>
        ))}
      </ul>
      {unlinked && (
        <DeleteItem
          action="Unlink"
          name={unlinked.subject}
          outcome="was unlinked"
          remove={() => fetchData(identityUnlink, { path: { ...path, identityId: unlinked.id } })}
          lists={[identityList]}
          onClose={() => setUnlinked(undefined)}
        >
          {user.name} can no longer sign in with this identity of {unlinked.issuer}.
        </DeleteItem>
      )}
    </Section>
  );
}
