import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ApplicationNode } from "../projects/index.ts";

type Workflow = { readonly id: string; readonly name: string; readonly description: string };

/** `workflows` on Application (reference section 1.6). There is never one; the types are here for the documents that ask. */
export function addWorkflowTypes(builder: Builder, Application: NodeRef<ApplicationNode>): void {
  const WorkflowType = builder.objectRef<Workflow>("Workflow").implement({
    fields: (t) => ({
      id: t.exposeString("id"),
      name: t.exposeString("name"),
      description: t.exposeString("description"),
    }),
  });
  const WorkflowList = listType(builder, "WorkflowConnection", WorkflowType);
  builder.objectField(Application, "workflows", (t) =>
    t.field({
      type: WorkflowList,
      description: "Always empty: the stages of a pipeline say what they do themselves.",
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_pipeline_view" },
      resolve: (_application, args) => listOf<Workflow>({ items: [], ...window(args), total: async () => 0 }),
    }),
  );
}
