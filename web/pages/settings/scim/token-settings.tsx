import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import {
  roleAssignmentCreate,
  roleCreate,
  serviceAccountCreate,
  serviceAccountList,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { CreateServiceAccount } from "./create-service-account.tsx";
import styles from "./scim-page.module.css";
import { LABELS, type useScimSettings } from "./scim-settings.ts";

type TokenSettingsProps = { readonly settings: ReturnType<typeof useScimSettings>; readonly mayEdit: boolean };

/** Whom the tokens act as, and which tokens are taken. */
export function TokenSettings({ settings, mayEdit }: TokenSettingsProps) {
  const { fields, saved, changed, save, refusals, edit } = settings;
  const [isCreating, setIsCreating] = useState(false);
  if (!mayEdit)
    return (
      <Card title="Settings">
        <KeyValues
          items={(["serviceAccount", "url", "claim", "value"] as const).map((field) => ({
            key: LABELS[field],
            value: <Name>{saved[field] === "" ? "None" : saved[field]}</Name>,
          }))}
        />
      </Card>
    );
  return (
    <>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!save.isPending && changed.length > 0) save.mutate();
        }}
      >
        <Card title="1. Service account" description="Tokens of the directory act as it, with its roles.">
          <div className={styles.fields}>
            <ServiceAccountField
              value={fields.serviceAccount}
              error={refusals.get("serviceAccount")}
              onChange={(value) => edit("serviceAccount", value)}
              onCreate={() => setIsCreating(true)}
            />
          </div>
        </Card>
        <Card
          title="2. Signed tokens"
          description="Which key set signs them, and by which claim they are known as yours."
        >
          <div className={styles.fields}>
            <FormField
              label={LABELS.url}
              error={refusals.get("url")}
              hint="The JWKS document of the identity provider, such as https://example.okta.com/oauth2/v1/keys."
            >
              <TextField mono type="url" value={fields.url} onChange={(event) => edit("url", event.target.value)} />
            </FormField>
            <div className={styles.claim}>
              <FormField
                label={LABELS.claim}
                error={refusals.get("claim")}
                hint="One that only its tokens for Railhead have, such as appid or aud."
              >
                <TextField mono value={fields.claim} onChange={(event) => edit("claim", event.target.value)} />
              </FormField>
              <FormField
                label={LABELS.value}
                error={refusals.get("value")}
                hint="The exact text, such as the client's ID."
              >
                <TextField mono value={fields.value} onChange={(event) => edit("value", event.target.value)} />
              </FormField>
            </div>
            {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
            <div className={styles.actions}>
              <Button type="submit" variant="primary" disabled={changed.length === 0} busy={save.isPending}>
                Save and check
              </Button>
            </div>
          </div>
        </Card>
      </form>
      {isCreating && (
        <CreateServiceAccount
          onClose={() => setIsCreating(false)}
          onCreated={(identifier) => {
            edit("serviceAccount", identifier);
            setIsCreating(false);
          }}
        />
      )}
    </>
  );
}

type ServiceAccountFieldProps = {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
  readonly onCreate: () => void;
};

function ServiceAccountField({ value, error, onChange, onCreate }: ServiceAccountFieldProps) {
  const may = useMay({});
  const accounts = useQuery({ ...dataQuery(serviceAccountList, {}), enabled: may(serviceAccountList) });
  const canCreate = may(serviceAccountCreate) && may(roleCreate) && may(roleAssignmentCreate);
  return (
    <>
      <FormField
        label={LABELS.serviceAccount}
        error={error}
        hint="It needs the permissions to see, invite and manage users and groups."
      >
        <Combobox
          value={value}
          onChange={onChange}
          allowsOther
          placeholder="Identifier of a service account"
          emptyText="No service account matches."
          options={(accounts.data ?? []).map(({ identifier, name }) => ({
            value: identifier,
            label: identifier,
            hint: name,
          }))}
        />
      </FormField>
      {canCreate && (
        <div className={styles.actions}>
          <Button size="small" icon="plus" onClick={onCreate}>
            Create one with these permissions
          </Button>
        </div>
      )}
    </>
  );
}
