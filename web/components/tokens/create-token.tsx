import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { fetchData } from "../../api/client.ts";
import { apiKeyAggregates, apiKeyCreate, tokenAggregates, tokenCreate } from "../../api/operations.gen.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../ui/form-field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { identifierFor } from "../../util/identifier.ts";
import { formatUsDate, parseUsDate } from "../../util/us-date.ts";
import { ShownOnce } from "../shown-once.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";

type CreateTokenProps = {
  readonly owner: TokenOwner;
  /** The key that gets the token; undefined to create one. */
  readonly apiKey: string | undefined;
  readonly onClose: () => void;
};

const DEFAULT_LIFETIME_MS = 90 * 86_400_000;

/** Creates a token, with an API key if there is none for it, and shows its text once. */
export function CreateToken({ owner, apiKey, onClose }: CreateTokenProps) {
  const [keyName, setKeyName] = useState("");
  const [name, setName] = useState("");
  const [end, setEnd] = useState(() => formatUsDate(Date.now() + DEFAULT_LIFETIME_MS));
  // The key of a former attempt whose token was refused.
  const [created, setCreated] = useState<string>();
  const queryClient = useQueryClient();
  const isEndFaulty = end.trim() !== "" && parseUsDate(end) === undefined;
  const create = useMutation({
    mutationFn: async () => {
      const query = ownerQuery(owner);
      const apiKeyIdentifier = apiKey ?? created ?? identifierFor(keyName);
      if (apiKey === undefined && created === undefined) {
        await fetchData(apiKeyCreate, {
          query,
          body: { ...query, identifier: apiKeyIdentifier, name: keyName.trim() },
        });
        setCreated(apiKeyIdentifier);
      }
      const fields = { ...query, apiKeyIdentifier, identifier: identifierFor(name), name: name.trim() };
      const validTo = end.trim() === "" ? {} : { validTo: end.trim() };
      return fetchData(tokenCreate, { query: { ...query, apiKeyIdentifier }, body: { ...fields, ...validTo } });
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: [apiKeyAggregates.id] }),
        queryClient.invalidateQueries({ queryKey: [tokenAggregates.id] }),
      ]),
  });
  if (create.data !== undefined)
    return <NewToken title={`Token ${name.trim()}`} value={create.data} onClose={onClose} />;
  return (
    <Dialog
      open
      size="small"
      title={apiKey === undefined ? "New API key with a token" : "New token"}
      onClose={onClose}
      onSubmit={() => {
        if (!isEndFaulty) create.mutate();
      }}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create token
          </Button>
        </>
      }
    >
      {create.error !== null && <Notice tone="failed">{messageOf(create.error)}</Notice>}
      <FormLayout>
        {apiKey === undefined && (
          <FormField label="Name of the API key" required hint="Such as the program that uses it. It groups tokens.">
            <TextField
              value={keyName}
              disabled={created !== undefined}
              onChange={(event) => setKeyName(event.target.value)}
            />
          </FormField>
        )}
        <FormField label="Name of the token" required>
          <TextField value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        <FormField
          label="Expires on"
          hint="mm/dd/yyyy, at the end of the day in UTC. Empty: valid until it is deleted."
          error={isEndFaulty && "Write the date as mm/dd/yyyy, such as 12/31/2026."}
        >
          <TextField placeholder="mm/dd/yyyy" value={end} onChange={(event) => setEnd(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}

type NewTokenProps = { readonly title: string; readonly value: string; readonly onClose: () => void };

/** The text of a token that was created or rotated. */
export function NewToken({ title, value, onClose }: NewTokenProps) {
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <ShownOnce label="Token" value={value}>
        Programs send it in the header <code>x-api-key</code>.
      </ShownOnce>
    </Dialog>
  );
}
