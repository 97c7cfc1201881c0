/** GraphQL fields `trigger` and `triggerByName`, and the type of triggers. */
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { TriggerNode } from "../executions/index.ts";
import { createBatch } from "../platform/graphql/request/batch.ts";
import type { Builder, GraphqlContext, NodeRef } from "../platform/graphql/builder.ts";
import type { FindTrigger, FindTriggerByName, FindTriggers } from "./find.ts";
import type { Trigger } from "./trigger.ts";
import { webhookUrl } from "./wire.ts";

export type TriggerQueries = {
  readonly find: FindTrigger;
  readonly findAll: FindTriggers;
  readonly findByName: FindTriggerByName;
  /** Undefined for callers who may not run the pipeline. */
  readonly tokenOf: (actor: Actor, trigger: Trigger) => string | undefined;
  readonly publicUrl: () => string;
};

/** A call of the webhook. `url` is null for callers who may not run the pipeline. */
type Condition = { readonly url: string | null };

/** `Trigger` is the type that executions declare; this adds its other fields. */
export function addTriggerTypes(builder: Builder, Trigger: NodeRef<TriggerNode>, queries: TriggerQueries): void {
  const Condition = conditionType(builder);
  const read = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[]) => queries.findAll(actor, ids));
  const whole = (context: GraphqlContext, { id }: TriggerNode): Promise<Trigger | undefined> => read(context, id, "");
  builder.objectFields(Trigger, (t) => ({
    description: t.string({
      description: "Null where the trigger was deleted.",
      resolve: async (node, _args, context) => (await whole(context, node))?.description ?? null,
    }),
    condition: t.field({
      type: Condition,
      description: "What starts the pipeline; null where the trigger was deleted.",
      resolve: async (node, _args, context): Promise<Condition | null> => {
        const trigger = await whole(context, node);
        return trigger
          ? { url: webhookUrl(trigger, queries.tokenOf(context.actor, trigger), queries.publicUrl()) }
          : null;
      },
    }),
  }));
  const extensions = { permission: "core_pipeline_view" };
  builder.queryFields((t) => ({
    trigger: t.field({
      type: Trigger,
      description: "Null where there is none that the caller may see.",
      args: { triggerId: t.arg.string({ required: true }) },
      extensions,
      resolve: async (_root, { triggerId }, { actor }) => (await queries.find(actor, triggerId)) ?? null,
    }),
    triggerByName: t.field({
      type: Trigger,
      description: "The oldest trigger of this name; null where there is none that the caller may see.",
      args: { triggerName: t.arg.string({ required: true }), applicationId: t.arg.string({ required: true }) },
      extensions,
      resolve: async (_root, { triggerName, applicationId }, { actor }) =>
        (await queries.findByName(actor, applicationId, triggerName)) ?? null,
    }),
  }));
}

function conditionType(builder: Builder) {
  const Details = builder.objectRef<Condition>("WebhookDetails").implement({
    fields: (t) => ({
      webhookURL: t.exposeString("url", {
        nullable: true,
        description: "Its token starts the pipeline. Null for callers who may not run the pipeline.",
      }),
      method: t.string({ resolve: () => "POST" }),
      header: t.string({ resolve: () => "content-type: application/json" }),
      payload: t.string({ description: "Always null: a webhook takes any JSON.", resolve: () => null }),
    }),
  });
  const Type = builder.enumType("TriggerConditionType", { values: ["WEBHOOK"] as const });
  const Condition = builder.interfaceRef<Condition>("TriggerCondition").implement({
    resolveType: () => "OnWebhook",
    fields: (t) => ({ triggerConditionType: t.field({ type: Type, resolve: () => "WEBHOOK" as const }) }),
  });
  builder.objectRef<Condition>("OnWebhook").implement({
    interfaces: [Condition],
    fields: (t) => ({ webhookDetails: t.field({ type: Details, resolve: (condition) => condition }) }),
  });
  return Condition;
}
