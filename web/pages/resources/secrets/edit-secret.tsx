import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData, type DataOf } from "../../../api/client.ts";
import {
  secretCreate,
  secretCreateFile,
  secretList,
  secretUpdate,
  secretUpdateFile,
  type secretGet,
} from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { identifierFor } from "../../../util/identifier.ts";
import { FileDrop } from "./file-drop.tsx";

type EditSecretProps = {
  readonly scope: Scope;
  readonly former: DataOf<typeof secretGet> | undefined;
  readonly onClose: () => void;
};
type Kind = "SecretText" | "SecretFile";

const KINDS = [
  { value: "SecretText", label: "Text" },
  { value: "SecretFile", label: "File" },
] as const;

/** Creates a secret, or gives it a new value. The former value is not shown: it is not known here. */
export function EditSecret({ scope, former, onClose }: EditSecretProps) {
  const [kind, setKind] = useState<Kind>(former?.secret.type === "SecretFile" ? "SecretFile" : "SecretText");
  const [name, setName] = useState(former?.secret.name ?? "");
  const [typedIdentifier, setTypedIdentifier] = useState<string>();
  const [value, setValue] = useState("");
  const [file, setFile] = useState<File>();
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = former?.secret.identifier ?? typedIdentifier ?? identifierFor(name);
  const save = useMutation({
    mutationFn: () =>
      saveSecret({ scope, isNew: former === undefined, kind, name: name.trim(), identifier, value, file }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [secretList.id] });
      show({
        tone: "success",
        message: former ? `${former.secret.name} has a new value.` : `The secret ${name.trim()} was created.`,
      });
      onClose();
    },
  });
  const isComplete = kind === "SecretText" ? value !== "" : file !== undefined;
  return (
    <Dialog
      open
      title={former ? `Replace the value of ${former.secret.name}` : "New secret"}
      onClose={onClose}
      onSubmit={() => isComplete && save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!isComplete}>
            {former ? "Replace" : "Create secret"}
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <FormLayout>
        {!former && (
          <>
            <FormField label="Name" required>
              <TextField value={name} onChange={(event) => setName(event.target.value)} />
            </FormField>
            <FormField
              label="Identifier"
              required
              hint={
                <>
                  Pipelines read it with <code>{`<+secrets.getValue("${identifier || "…"}")>`}</code>.
                </>
              }
            >
              <TextField mono value={identifier} onChange={(event) => setTypedIdentifier(event.target.value)} />
            </FormField>
            <FormField label="Type">
              <Select value={kind} onChange={setKind} options={KINDS} />
            </FormField>
          </>
        )}
        {kind === "SecretText" ? (
          <FormField label="Value" required hint="It is sealed when it is saved, and never shown again.">
            <TextArea
              mono
              rows={4}
              value={value}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setValue(event.target.value)}
            />
          </FormField>
        ) : (
          <FileDrop file={file} onFile={setFile} />
        )}
      </FormLayout>
    </Dialog>
  );
}

type NewSecret = {
  readonly scope: Scope;
  readonly isNew: boolean;
  readonly kind: Kind;
  readonly name: string;
  readonly identifier: string;
  readonly value: string;
  readonly file: File | undefined;
};

function saveSecret({ scope, isNew, kind, name, identifier, value, file }: NewSecret): Promise<unknown> {
  const query = { ...scope };
  const path = { identifier };
  if (kind === "SecretText") {
    const body = { secret: { name, identifier, ...scope, type: kind, spec: { valueType: "Inline" as const, value } } };
    return isNew ? fetchData(secretCreate, { query, body }) : fetchData(secretUpdate, { path, query, body });
  }
  const body = new FormData();
  body.set("spec", JSON.stringify({ secret: { name, identifier, ...scope, type: kind, spec: {} } }));
  if (file !== undefined) body.set("file", file);
  return isNew ? fetchData(secretCreateFile, { query, body }) : fetchData(secretUpdateFile, { path, query, body });
}
