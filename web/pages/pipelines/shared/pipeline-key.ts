import { useParams } from "@tanstack/react-router";
import type { Scope } from "../../../api/permissions.ts";
import { useProjectScope } from "../../../routes/scope.ts";

/** The pipeline of the page: its scope as the API takes it, and the parameters of links to its pages. */
export type PipelineKey = {
  readonly identifier: string;
  readonly scope: Required<Scope>;
  readonly params: { readonly org: string; readonly project: string; readonly pipeline: string };
};

/** Throws on pages that do not belong to a pipeline. */
export function usePipelineKey(): PipelineKey {
  const scope = useProjectScope();
  const { pipeline } = useParams({ strict: false });
  if (pipeline === undefined) throw new Error("This page does not belong to a pipeline.");
  return {
    identifier: pipeline,
    scope,
    params: { org: scope.orgIdentifier, project: scope.projectIdentifier, pipeline },
  };
}
