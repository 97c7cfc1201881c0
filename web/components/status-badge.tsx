import { Badge } from "../ui/badge.tsx";
import { lookOf } from "./execution-status.ts";
import { ToneIcon } from "./status-icon.tsx";

/** Shape, word and colour of the status of an execution or a node. */
export function StatusBadge({ status }: { readonly status: string }) {
  const { tone, label } = lookOf(status);
  return (
    <Badge tone={tone} shape={<ToneIcon tone={tone} size={12} />}>
      {label}
    </Badge>
  );
}
