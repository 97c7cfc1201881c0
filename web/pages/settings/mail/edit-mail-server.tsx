import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isStaleVersion, messageOf } from "../../../api/api-error.ts";
import { request } from "../../../api/client.ts";
import {
  smtpConfigCreate,
  smtpConfigGet,
  smtpConfigUpdate,
  type SmtpConfigBody,
  type SmtpConfigData,
} from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import styles from "./mail-page.module.css";
import { PORTS, SECURITY_LABELS, securityOf, type Security } from "./security.ts";

type EditMailServerProps = {
  readonly former: SmtpConfigData | undefined;
  readonly etag: string | undefined;
  readonly onClose: () => void;
};

type Fields = {
  readonly name: string;
  readonly host: string;
  readonly port: string;
  readonly security: Security;
  readonly from: string;
  readonly username: string;
  readonly password: string;
};

export function EditMailServer({ former, etag, onClose }: EditMailServerProps) {
  const [fields, setFields] = useState(() => fieldsOf(former));
  // The version that was read, also if a newer one is loaded while this dialog is open.
  const [version] = useState(etag);
  const queryClient = useQueryClient();
  const show = useToast();
  const set = (changed: Partial<Fields>): void => setFields((before) => ({ ...before, ...changed }));
  const save = useMutation({
    mutationFn: async () => {
      const body = bodyOf(fields, former);
      const headers = version === undefined ? {} : { "if-match": version };
      await (former ? request(smtpConfigUpdate, { body }, { headers }) : request(smtpConfigCreate, { body }));
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [smtpConfigGet.id] });
      show({ tone: "success", message: "The mail server was saved. Send a test mail to check it." });
      onClose();
    },
  });
  return (
    <Dialog
      open
      title={former ? "Edit the mail server" : "Set up mail"}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{refusalOf(save.error)}</Notice>}
      <FormLayout>
        <ServerFields fields={fields} set={set} />
        <FormField
          label="Sender"
          optional
          hint="The address that mails come from. Needed unless the user name is an address."
        >
          <TextField type="email" value={fields.from} onChange={(event) => set({ from: event.target.value })} />
        </FormField>
        <FormField label="User name" optional hint="Without it, mails are sent without a login.">
          <TextField value={fields.username} onChange={(event) => set({ username: event.target.value })} />
        </FormField>
        <FormField label="Password" optional hint={passwordHint(former)}>
          <TextField
            type="password"
            autoComplete="new-password"
            value={fields.password}
            onChange={(event) => set({ password: event.target.value })}
          />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

type ServerFieldsProps = { readonly fields: Fields; readonly set: (changed: Partial<Fields>) => void };

function ServerFields({ fields, set }: ServerFieldsProps) {
  return (
    <>
      <div className={styles.address}>
        <FormField label="Host" required>
          <TextField mono value={fields.host} onChange={(event) => set({ host: event.target.value })} />
        </FormField>
        <FormField label="Port" required>
          <TextField inputMode="numeric" value={fields.port} onChange={(event) => set({ port: event.target.value })} />
        </FormField>
      </div>
      <FormField label="Security" hint="A password is sent only with TLS, and certificates are checked.">
        <Select
          value={fields.security}
          onChange={(security) =>
            // A port that was typed stays.
            set({ security, ...(fields.port === PORTS[fields.security] && { port: PORTS[security] }) })
          }
          options={(["starttls", "tls", "none"] as const).map((value) => ({ value, label: SECURITY_LABELS[value] }))}
        />
      </FormField>
      <FormField label="Name" required>
        <TextField value={fields.name} onChange={(event) => set({ name: event.target.value })} />
      </FormField>
    </>
  );
}

function fieldsOf(former: SmtpConfigData | undefined): Fields {
  const { name = "Mail server", value } = former ?? {};
  const security = value ? securityOf(value) : "starttls";
  return {
    name,
    host: value?.host ?? "",
    port: value ? String(value.port) : PORTS[security],
    security,
    from: value?.fromAddress ?? "",
    username: value?.username ?? "",
    password: "",
  };
}

function bodyOf(fields: Fields, former: SmtpConfigData | undefined): SmtpConfigBody {
  const textOf = (value: string): string | null => (value.trim() === "" ? null : value.trim());
  return {
    ...(former && { uuid: former.uuid }),
    name: fields.name.trim(),
    value: {
      host: fields.host.trim(),
      port: Number(fields.port),
      useSSL: fields.security === "tls",
      startTLS: fields.security === "starttls",
      fromAddress: textOf(fields.from),
      username: textOf(fields.username),
      // Without one the API keeps the stored password.
      ...(fields.password !== "" && { password: fields.password }),
    },
  };
}

const passwordHint = (former: SmtpConfigData | undefined): string =>
  former
    ? "Empty keeps the stored one, as long as host, port, security and user name stay."
    : "It is never shown again.";

const refusalOf = (error: Error): string =>
  isStaleVersion(error)
    ? "The mail server was changed meanwhile. Close this dialog to see the change, and edit it again."
    : messageOf(error);
