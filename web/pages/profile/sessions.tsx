import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../api/client.ts";
import { sessionDelete, sessionDeleteAll, sessionList } from "../../api/operations.gen.ts";
import { goToSignIn } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Name } from "../../ui/name.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./profile-page.module.css";
import { describeUserAgent } from "./user-agent.ts";

type SessionRow = DataOf<typeof sessionList>[number];

/** Where the user is signed in. */
export function Sessions() {
  const queryClient = useQueryClient();
  const show = useToast();
  const [isEndingAll, setIsEndingAll] = useState(false);
  const list = useQuery(dataQuery(sessionList, {}));
  const end = useMutation({
    mutationFn: (session: SessionRow) => fetchData(sessionDelete, { path: { sessionId: session.id } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [sessionList.id] }),
    onError: (error) => show({ tone: "failed", message: messageOf(error) }),
  });
  const endAll = useMutation({ mutationFn: () => fetchData(sessionDeleteAll, {}), onSuccess: goToSignIn });
  if (list.error !== null)
    return <ErrorState title="The sessions could not be loaded" message={messageOf(list.error)} />;
  return (
    <div className={styles.parts}>
      <Table label="Sessions" columns={columnsFor(end.mutate)} rows={list.data} rowKey={({ id }) => id} />
      <div className={styles.bar}>
        <Button icon="log-out" onClick={() => setIsEndingAll(true)}>
          End all sessions
        </Button>
      </div>
      <ConfirmDialog
        open={isEndingAll}
        title="End all sessions?"
        action="End all sessions"
        busy={endAll.isPending}
        error={endAll.error === null ? undefined : messageOf(endAll.error)}
        onConfirm={() => endAll.mutate()}
        onClose={() => setIsEndingAll(false)}
      >
        You are signed out everywhere, here too. API keys and tokens stay valid.
      </ConfirmDialog>
    </div>
  );
}

const columnsFor = (end: (session: SessionRow) => void): readonly Column<SessionRow>[] => [
  {
    key: "agent",
    header: "Browser",
    isTitle: true,
    cell: ({ userAgent }) => (
      <div className={styles.agent} title={userAgent}>
        <strong>
          <Name>{describeUserAgent(userAgent) ?? userAgent}</Name>
        </strong>
      </div>
    ),
  },
  { key: "address", header: "Address", width: "12rem", cell: ({ remoteAddress }) => <code>{remoteAddress}</code> },
  {
    key: "method",
    header: "Signed in with",
    width: "10rem",
    wideOnly: true,
    cell: ({ method }) => (method === "PASSWORD" ? "Password" : "Single sign-on"),
  },
  { key: "began", header: "Signed in", width: "9rem", cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  { key: "seen", header: "Last request", width: "9rem", cell: ({ lastSeenAt }) => <RelativeTime at={lastSeenAt} /> },
  {
    key: "end",
    header: "End",
    hideHeader: true,
    align: "end",
    width: "9rem",
    cell: (session) =>
      session.current ? (
        <Badge tone="success" icon="check">
          This session
        </Badge>
      ) : (
        <Button size="small" onClick={() => end(session)}>
          End session
        </Button>
      ),
  },
];
