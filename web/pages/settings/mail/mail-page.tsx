import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { answerQuery } from "../../../api/client.ts";
import {
  smtpConfigCreate,
  smtpConfigDelete,
  smtpConfigGet,
  smtpConfigTest,
  type SmtpConfigData,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { SettingsTabs } from "../settings-tabs.tsx";
import { DeleteMailServer } from "./delete-mail-server.tsx";
import { EditMailServer } from "./edit-mail-server.tsx";
import { SECURITY_LABELS, securityOf } from "./security.ts";
import { SendTestMail } from "./send-test-mail.tsx";
import styles from "./mail-page.module.css";

/** The server that steps send their mails with. An account has at most one. */
export function MailPage() {
  useTitle("Mail", "Settings");
  const may = useMay({});
  const [open, setOpen] = useState<"none" | "edit" | "delete">("none");
  const read = useQuery(answerQuery(smtpConfigGet, {}));
  const config = read.data?.answer.data ?? undefined;
  const mayEdit = may(smtpConfigCreate);
  const close = (): void => setOpen("none");
  return (
    <>
      <PageHeader
        title="Mail"
        actions={
          <>
            <CopyAs
              requests={[
                { label: "Read the mail server", operation: smtpConfigGet },
                { label: "Send a test mail", operation: smtpConfigTest, query: { to: "ada@example.com" } },
              ]}
            />
            {config && mayEdit && <Actions onOpen={setOpen} canDelete={may(smtpConfigDelete)} />}
          </>
        }
        tabs={<SettingsTabs />}
      />
      {read.isPending && <SkeletonLines lines={5} />}
      {read.error !== null && (
        <ErrorState
          title="The mail server could not be loaded"
          message={messageOf(read.error)}
          onRetry={() => void read.refetch()}
        />
      )}
      {read.data !== undefined && config === undefined && (
        <EmptyState
          icon="mail"
          title="No mail server yet"
          actions={
            mayEdit && (
              <Button variant="primary" icon="plus" onClick={() => setOpen("edit")}>
                Set up mail
              </Button>
            )
          }
        >
          Steps and approvals send mails with it. Until it is set up, steps that send mails fail.
        </EmptyState>
      )}
      {config && (
        <div className={styles.parts}>
          <KeyValues items={factsOf(config)} />
          {may(smtpConfigTest) && <SendTestMail />}
        </div>
      )}
      {open === "edit" && <EditMailServer former={config} etag={read.data?.etag} onClose={close} />}
      {open === "delete" && config && <DeleteMailServer config={config} etag={read.data?.etag} onClose={close} />}
    </>
  );
}

type ActionsProps = { readonly onOpen: (open: "edit" | "delete") => void; readonly canDelete: boolean };

const Actions = ({ onOpen, canDelete }: ActionsProps) => (
  <>
    {canDelete && (
      <Button variant="ghost" icon="trash" onClick={() => onOpen("delete")}>
        Delete
      </Button>
    )}
    <Button icon="edit" onClick={() => onOpen("edit")}>
      Edit
    </Button>
  </>
);

const factsOf = ({ name, value }: SmtpConfigData) => [
  { key: "Name", value: <Name>{name}</Name> },
  { key: "Server", value: <Name>{`${value.host}:${value.port}`}</Name> },
  { key: "Security", value: SECURITY_LABELS[securityOf(value)] },
  { key: "Sender", value: value.fromAddress === null ? "None" : <Name>{value.fromAddress}</Name> },
  {
    key: "User name",
    value: value.username === null ? "None, mails are sent without a login" : <Name>{value.username}</Name>,
  },
];
