import type { ConnectionState } from "../../../api/event-stream.ts";
import { Badge } from "../../../ui/badge.tsx";

/** Says that what the page shows may be old while the connection is lost. */
export function LiveNotice({ connection }: { readonly connection: ConnectionState }) {
  if (connection !== "lost") return null;
  return (
    <span role="status">
      <Badge tone="waiting" icon="warning">
        Connection lost, trying again
      </Badge>
    </span>
  );
}
