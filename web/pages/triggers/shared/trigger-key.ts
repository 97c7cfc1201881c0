import { useParams } from "@tanstack/react-router";
import { request } from "../../../api/client.ts";
import { triggerGet } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { StoredDocument } from "../../../components/document-editor/use-document.ts";
import { useProjectScope } from "../../../routes/scope.ts";

/** A trigger as the API finds it. */
export type TriggerKey = {
  readonly path: { readonly identifier: string };
  readonly query: Required<Scope> & { readonly targetIdentifier: string };
};

export const triggerKey = (scope: Required<Scope>, targetIdentifier: string, identifier: string): TriggerKey => ({
  path: { identifier },
  query: { ...scope, targetIdentifier },
});

/** The parameters of the addresses of the trigger's pages. */
export const paramsOf = ({ path, query }: TriggerKey) => ({
  org: query.orgIdentifier,
  project: query.projectIdentifier,
  pipeline: query.targetIdentifier,
  trigger: path.identifier,
});

/** Throws on pages that do not belong to a trigger. */
export function useTriggerKey(): TriggerKey {
  const scope = useProjectScope();
  const { pipeline, trigger } = useParams({ strict: false });
  if (pipeline === undefined || trigger === undefined) throw new Error("This page does not belong to a trigger.");
  return triggerKey(scope, pipeline, trigger);
}

export async function readTrigger(key: TriggerKey): Promise<StoredDocument> {
  const { answer, etag } = await request(triggerGet, key);
  return { text: answer.data.yaml, etag };
}
