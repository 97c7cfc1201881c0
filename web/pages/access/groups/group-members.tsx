import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import {
  userGroupAddMember,
  userGroupGet,
  userGroupList,
  userGroupListMembers,
  userGroupRemoveMember,
  userList,
} from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Pagination } from "../../../ui/pagination.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import { DeleteItem } from "../shared/delete-item.tsx";
import styles from "../shared/panel.module.css";

const PAGE_SIZE = 20;
const LISTS = [userGroupList, userGroupGet, userGroupListMembers];
type Member = DataOf<typeof userGroupListMembers>["content"][number];
type GroupMembersProps = {
  readonly group: DataOf<typeof userGroupGet>;
  readonly scope: Scope;
  readonly canChange: boolean;
};

export function GroupMembers({ group, scope, canChange }: GroupMembersProps) {
  const [page, setPage] = useState(0);
  const [removed, setRemoved] = useState<Member>();
  const path = { identifier: group.identifier };
  const { data, error } = useQuery({
    ...dataQuery(userGroupListMembers, { path, query: { ...scope, pageSize: PAGE_SIZE, pageIndex: page } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="Members">
      <div className={styles.panel}>
        {canChange && <AddMember group={group} scope={scope} />}
        {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
        {data === undefined && error === null && <SkeletonLines lines={3} />}
        {data?.content.length === 0 && <p className={styles.none}>None.</p>}
        <ul className={styles.rows} aria-label="Members">
          {data?.content.map((member) => (
            <li key={member.uuid} className={styles.row}>
              <span className={styles.text}>
                <Name>{member.name}</Name>
                <span className={styles.none}>
                  <Name>{member.email}</Name>
                </span>
              </span>
              {canChange && (
                <Button size="small" aria-label={`Remove ${member.name}`} onClick={() => setRemoved(member)}>
                  Remove
                </Button>
              )}
            </li>
          ))}
        </ul>
        {data !== undefined && data.totalItems > PAGE_SIZE && (
          <Pagination label="Members" page={page} pageSize={PAGE_SIZE} total={data.totalItems} onChange={setPage} />
        )}
      </div>
      {removed && (
        <DeleteItem
          action="Remove member"
          name={removed.name}
          outcome={`is no longer in ${group.name}`}
          remove={() =>
            fetchData(userGroupRemoveMember, { path: { ...path, userIdentifier: removed.uuid }, query: scope })
          }
          lists={LISTS}
          onClose={() => setRemoved(undefined)}
        >
          {removed.name} loses within a second what only roles of the group {group.name} permit.
        </DeleteItem>
      )}
    </Section>
  );
}

/** Choosing a user adds the user. */
function AddMember({ group, scope }: Omit<GroupMembersProps, "canChange">) {
  const may = useMay({});
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const queryClient = useQueryClient();
  const show = useToast();
  const query = { pageSize: 20, ...(searched === "" ? {} : { searchTerm: searched }) };
  const users = useQuery({
    ...dataQuery(userList, { query }),
    enabled: may(userList),
    placeholderData: keepPreviousData,
  });
  const add = useMutation({
    mutationFn: (userIdentifier: string) =>
      fetchData(userGroupAddMember, { path: { identifier: group.identifier, userIdentifier }, query: scope }),
    onSuccess: async () => {
      await Promise.all(LISTS.map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] })));
      show({ tone: "success", message: `The user is in ${group.name} now.` });
    },
  });
  if (!may(userList)) return null;
  return (
    <>
      {add.error !== null && <Notice tone="failed">{messageOf(add.error)}</Notice>}
      <Combobox
        label="Add a member"
        placeholder="Add a member: search by name or e-mail"
        value=""
        options={users.data?.content.map(({ uuid, name, email }) => ({
          value: uuid,
          label: name,
          hint: email,
          disabled: group.users.includes(uuid),
        }))}
        onSearch={setText}
        onChange={(id) => {
          if (id !== "" && !add.isPending) add.mutate(id);
        }}
      />
    </>
  );
}
