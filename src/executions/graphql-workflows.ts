import type { EnvironmentTypes } from "../environments/index.ts";
import {
  listOf,
  listType,
  window,
  type Builder,
  type InterfaceNodeRef,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import type { Workflow } from "../pipelines/index.ts";
import type { InputVariable } from "./graphql-stages.ts";
import type { ExecutionNode } from "./wire/graphql.ts";

type Types = Pick<EnvironmentTypes, "Environment" | "Service" | "ArtifactSource"> & {
  readonly Execution: InterfaceNodeRef<ExecutionNode>;
  readonly Workflow: NodeRef<Workflow>;
  readonly InputVariable: NodeRef<InputVariable>;
};

type Artifact = { readonly id: string; readonly buildNo: string; readonly collectedAt: number };
type Outcome = { readonly kind: "DeploymentOutcome" };

/**
 * `WorkflowExecution`. No execution is one, since there are no workflows: the types are here for
 * the fragments of the documents that ask for both kinds.
 */
export function addWorkflowExecution(builder: Builder, types: Types): void {
  const Artifact = builder.objectRef<Artifact>("Artifact").implement({
    fields: (t) => ({
      id: t.exposeString("id"),
      buildNo: t.exposeString("buildNo"),
      collectedAt: t.expose("collectedAt", { type: "Long" }),
      artifactSource: t.field({ type: types.ArtifactSource, resolve: () => null }),
    }),
  });
  const Outcome = builder.interfaceRef<Outcome>("Outcome").implement({
    resolveType: ({ kind }) => kind,
    fields: (t) => ({ service: t.field({ type: types.Service, resolve: () => null }) }),
  });
  builder.objectRef<Outcome>("DeploymentOutcome").implement({
    interfaces: [Outcome],
    fields: (t) => ({ environment: t.field({ type: types.Environment, resolve: () => null }) }),
  });
  const Outcomes = listType(builder, "OutcomeConnection", Outcome);
  builder.objectRef<ExecutionNode>("WorkflowExecution").implement({
    description: "No execution is one: there are no workflows.",
    interfaces: [types.Execution],
    fields: (t) => ({
      workflow: t.field({ type: types.Workflow, resolve: () => null }),
      inputVariables: t.field({ type: [types.InputVariable], resolve: () => [] }),
      artifacts: t.field({ type: [Artifact], resolve: () => [] }),
      rollbackArtifacts: t.field({ type: [Artifact], resolve: () => [] }),
      outcomes: t.field({
        type: Outcomes,
        args: { limit: t.arg.int(), offset: t.arg.int() },
        resolve: (_execution, args) => listOf<Outcome>({ items: [], ...window(args), total: async () => 0 }),
      }),
    }),
  });
}
