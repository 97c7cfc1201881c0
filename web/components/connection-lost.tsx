import { useEffect, useState } from "react";
import type { ConnectionState } from "../api/event-stream.ts";
import { Notice } from "../ui/notice.tsx";

/** Short interruptions, as when the server is restarted behind a proxy, are not worth a banner. */
const GRACE_MS = 1_500;

/** Says that the page does not change by itself until the connection is back. */
export function ConnectionLost({ state }: { readonly state: ConnectionState }) {
  const isLost = state === "lost";
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    if (!isLost) return setIsShown(false);
    const timer = setTimeout(() => setIsShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (!isShown) return null;
  return (
    <Notice tone="waiting" title="The connection to the server was lost">
      What is shown may be out of date. The page reconnects by itself.
    </Notice>
  );
}
