import type { DataOf } from "../../../api/client.ts";
import type { userGroupList } from "../../../api/operations.gen.ts";
import { Badge } from "../../../ui/badge.tsx";

export type GroupRow = DataOf<typeof userGroupList>["content"][number];

export function GroupOrigin({ group }: { readonly group: GroupRow }) {
  if (group.platformManaged) return <Badge icon="users">Everyone here</Badge>;
  if (group.externallyManaged) return <Badge icon="link">Directory</Badge>;
  return <>Railhead</>;
}
