import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ApplicationNode } from "../projects/index.ts";
import type { GetPipelineById, ListPipelines } from "./get.ts";
import type { Pipeline } from "./pipeline.ts";

/** A pipeline, or as much of it as a list of executions brought along; what is missing is read when it is asked for. */
export type PipelineNode = Pick<Pipeline, "id" | "name"> & Partial<Pipeline>;

/** `Pipeline`, and `pipelines` on Application (spec.md, "Application, pipeline, execution, user"). */
export function addPipelineTypes(
  builder: Builder,
  types: { Application: NodeRef<ApplicationNode> },
  verbs: { list: ListPipelines; getById: GetPipelineById },
): { Pipeline: NodeRef<PipelineNode> } {
  // Only the id: who that is, is asked with the query `user`.
  const CreatedBy = builder.objectRef<{ id: Uuid }>("CreatedBy").implement({
    fields: (t) => ({ id: t.string({ resolve: (person) => toWire(person.id) }) }),
  });
  const whole = async (node: PipelineNode, actor: Actor): Promise<Pipeline> =>
    isWhole(node) ? node : verbs.getById(actor, node.id);
  const Pipeline = builder.objectRef<PipelineNode>("Pipeline").implement({
    fields: (t) => ({
      id: t.string({ resolve: (pipeline) => toWire(pipeline.id) }),
      name: t.exposeString("name"),
      description: t.string({ resolve: async (node, _args, { actor }) => (await whole(node, actor)).description }),
      createdAt: t.field({
        type: "Long",
        resolve: async (node, _args, { actor }) => (await whole(node, actor)).createdAt,
      }),
      createdBy: t.field({
        type: CreatedBy,
        resolve: async (node, _args, { actor }) => {
          const { createdBy } = await whole(node, actor);
          return createdBy && { id: createdBy };
        },
      }),
    }),
  });
  const PipelineList = listType(builder, "PipelineConnection", Pipeline);
  builder.objectField(types.Application, "pipelines", (t) =>
    t.field({
      type: PipelineList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (application, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf<PipelineNode>(await verbs.list(actor, application.id, limit, offset));
      },
    }),
  );
  return { Pipeline };
}

const isWhole = (node: PipelineNode): node is Pipeline => node.updatedAt !== undefined;
