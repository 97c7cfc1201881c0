import type { DataOf } from "../../../api/client.ts";
import type { invitationList, userAggregates } from "../../../api/operations.gen.ts";

export type UserRow = DataOf<typeof userAggregates>["content"][number];
export type Invitation = DataOf<typeof invitationList>["content"][number];
