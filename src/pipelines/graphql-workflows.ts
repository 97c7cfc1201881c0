import { authorizeSomewhere } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import { commonFilters } from "../platform/graphql/filters.ts";
import type { ApplicationNode } from "../projects/index.ts";
import { problem } from "./problems.ts";

export type Workflow = { readonly id: string; readonly name: string; readonly description: string };
const PERMISSION = "core_pipeline_view";
type Args = { readonly limit?: number | null | undefined; readonly offset?: number | null | undefined };

/**
 * `workflows` on Application and at the root, `workflow` and `workflowByName`. There is
 * never one: the types are here for the documents that ask.
 */
export function addWorkflowTypes(builder: Builder, Application: NodeRef<ApplicationNode>): NodeRef<Workflow> {
  const Workflow = builder.objectRef<Workflow>("Workflow").implement({
    fields: (t) => ({
      id: t.exposeString("id"),
      name: t.exposeString("name"),
      description: t.exposeString("description"),
    }),
  });
  const List = listType(builder, "WorkflowConnection", Workflow);
  const Filter = filterType(builder);
  const extensions = { permission: PERMISSION };
  const description = "Always empty: the stages of a pipeline say what they do themselves.";
  const none = (args: Args) => listOf<Workflow>({ items: [], ...window(args), total: async () => 0 });
  builder.objectField(Application, "workflows", (t) =>
    t.field({
      type: List,
      description,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions,
      resolve: (_application, args) => none(args),
    }),
  );
  builder.queryFields((t) => ({
    workflows: t.field({
      type: List,
      description,
      args: {
        limit: t.arg.int(),
        offset: t.arg.int(),
        filters: t.arg({ type: [Filter], required: { list: false, items: false } }),
      },
      extensions,
      resolve: (_root, args, { actor }) => {
        authorizeSomewhere(actor, PERMISSION);
        return none(args);
      },
    }),
    workflow: t.field({
      type: Workflow,
      description: "Always an error: there are no workflows.",
      args: { workflowId: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { workflowId }, { actor }) => notFound(actor, workflowId),
    }),
    workflowByName: t.field({
      type: Workflow,
      description: "Always an error: there are no workflows.",
      args: { applicationId: t.arg.string({ required: true }), workflowName: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { workflowName }, { actor }) => notFound(actor, workflowName),
    }),
  }));
  return Workflow;
}

/** Who may look at no pipeline is told no more than that. */
function notFound(actor: Actor, text: string): Workflow {
  authorizeSomewhere(actor, PERMISSION);
  throw problem("pipeline.no_workflow", [text.slice(0, 128)]);
}

/** It has the keys that clients filter by; of nothing, nothing is left by any of them. */
function filterType(builder: Builder) {
  const { IdFilter, TagInput } = commonFilters(builder);
  const TagType = builder.enumType("WorkflowTagType", { values: ["WORKFLOW"] as const });
  const TagFilter = builder.inputType("WorkflowTagFilter", {
    fields: (t) => ({
      entityType: t.field({ type: TagType }),
      tags: t.field({ type: [TagInput], required: { list: false, items: false } }),
    }),
  });
  return builder.inputType("WorkflowFilter", {
    fields: (t) => ({
      application: t.field({ type: IdFilter }),
      workflow: t.field({ type: IdFilter }),
      tag: t.field({ type: TagFilter }),
    }),
  });
}
