import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import type { Scope } from "../../../api/permissions.ts";
import { YamlEditor } from "../../../components/yaml-editor/yaml-editor.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { ResourceKind } from "./resource-kind.ts";

type EditResourceProps<Row> = {
  readonly kind: ResourceKind<Row>;
  readonly scope: Scope;
  readonly former: Row | undefined;
  readonly onClose: () => void;
};
type Stored = { readonly text: string; readonly etag: string | undefined };

/** The document of a resource in an editor. Saving refuses to overwrite what was changed meanwhile. */
export function EditResource<Row>({ kind, scope, former, onClose }: EditResourceProps<Row>) {
  const identifier = former === undefined ? undefined : kind.identifierOf(former);
  const stored = useQuery({
    queryKey: [kind.operations.get.id, scope, identifier, "document"],
    queryFn: () => (identifier === undefined ? templateOf(kind, scope) : readStored(kind, scope, identifier)),
    // The version that the user began to change stays.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const title = former === undefined ? `New ${kind.noun}` : `Edit ${kind.nameOf(former)}`;
  if (stored.data === undefined)
    return (
      <Dialog open size="large" title={title} onClose={onClose}>
        {stored.error === null ? <SkeletonLines lines={8} /> : <Notice tone="failed">{messageOf(stored.error)}</Notice>}
      </Dialog>
    );
  return (
    <EditDocument
      kind={kind}
      scope={scope}
      identifier={identifier}
      title={title}
      stored={stored.data}
      onClose={onClose}
    />
  );
}

type EditDocumentProps<Row> = Pick<EditResourceProps<Row>, "kind" | "scope" | "onClose"> & {
  readonly identifier: string | undefined;
  readonly title: string;
  readonly stored: Stored;
};

function EditDocument<Row>({ kind, scope, identifier, title, stored, onClose }: EditDocumentProps<Row>) {
  const [text, setText] = useState(stored.text);
  const queryClient = useQueryClient();
  const show = useToast();
  const save = useMutation({
    mutationFn: () => {
      const { create, update, updateHasPath } = kind.operations;
      const headers = stored.etag === undefined ? {} : { "if-match": stored.etag };
      const path = identifier !== undefined && updateHasPath === true ? { path: { identifier } } : {};
      return send(
        identifier === undefined ? create : update,
        { ...path, query: { ...scope }, body: text },
        { headers },
      );
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [kind.operations.list.id] });
      show({
        tone: "success",
        message: identifier === undefined ? `The ${kind.noun} was created.` : `The ${kind.noun} was saved.`,
      });
      onClose();
    },
  });
  const faults = save.error instanceof ApiError ? save.error.faults : undefined;
  return (
    <Dialog
      open
      size="large"
      title={title}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            {identifier === undefined ? `Create ${kind.noun}` : "Save"}
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <YamlEditor label={`Document of the ${kind.noun}`} value={text} onChange={setText} faults={faults} />
    </Dialog>
  );
}

const textOf = <Row,>(kind: ResourceKind<Row>, document: object): string =>
  stringify({ [kind.noun]: document }, { lineWidth: 0 });

const templateOf = <Row,>(kind: ResourceKind<Row>, scope: Scope): Promise<Stored> =>
  Promise.resolve({ text: textOf(kind, { ...kind.template(scope), ...scope }), etag: undefined });

async function readStored<Row>(kind: ResourceKind<Row>, scope: Scope, identifier: string): Promise<Stored> {
  const answer = await send(kind.operations.get, { path: { identifier }, query: { ...scope } });
  const { data } = (await answer.json()) as { readonly data: unknown };
  return { text: textOf(kind, kind.documentOf(data)), etag: answer.headers.get("etag") ?? undefined };
}
