import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../../api/client.ts";
import { invitationList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import type { Invitation } from "./user-row.ts";

/** The valid invitations by their users; empty for those who may not see the users of the account. */
export function useInvitations(): ReadonlyMap<string, Invitation> {
  const may = useMay({});
  const { data } = useQuery({
    ...dataQuery(invitationList, { query: { pageSize: 100 } }),
    enabled: may(invitationList),
  });
  return new Map((data?.content ?? []).map((one) => [one.userId, one]));
}
