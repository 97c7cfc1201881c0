/** GraphQL mutations `attachTag` and `detachTag`, for applications, environments, pipelines and services. */
import type { Actor } from "../core/actor.ts";
import type { TagChange } from "../platform/document/tags.ts";
import { payloadOf, payloadType, type Builder } from "../platform/graphql/builder.ts";
import { problem } from "./problems.ts";

const ENTITY_TYPES = ["APPLICATION", "ENVIRONMENT", "PIPELINE", "PROVISIONER", "SERVICE", "WORKFLOW"] as const;
type EntityType = (typeof ENTITY_TYPES)[number];

/**
 * Changes a tag of the entity with this id. Returns the id of its application; null for entities above applications.
 */
type ChangeTag = (actor: Actor, id: string, to: TagChange) => Promise<string | null>;

/** The operation that changes a tag, for each type of entity. */
export type TagOperations = {
  readonly tagApplication: (actor: Actor, id: string, to: TagChange) => Promise<void>;
  readonly tagEnvironment: ChangeTag;
  readonly tagPipeline: ChangeTag;
  readonly tagService: ChangeTag;
};

type TagLink = {
  readonly appId: string | null;
  readonly entityId: string;
  readonly entityType: EntityType;
  readonly name: string;
  readonly value: string;
};

/** Each operation checks the permission on its own type of entity. */
export function addTagMutations(builder: Builder, tagged: TagOperations): void {
  const change = changeTagOf(tagged);
  const Type = builder.enumType("TagEntityType", { values: ENTITY_TYPES });
  const Link = builder.objectRef<TagLink>("TagLink").implement({
    fields: (t) => ({
      appId: t.exposeString("appId", {
        nullable: true,
        description: "The application of the entity; null for what lies in an organization or in the account.",
      }),
      entityId: t.exposeString("entityId"),
      entityType: t.expose("entityType", { type: Type }),
      name: t.exposeString("name"),
      value: t.exposeString("value"),
    }),
  });
  const AttachPayload = payloadType<{ tagLink: TagLink }>(builder, "AttachTagPayload", (t) => ({
    tagLink: t.field({ type: Link, resolve: ({ tagLink }) => tagLink }),
  }));
  const DetachPayload = payloadType(builder, "DetachTagPayload");
  const AttachInput = builder.inputType("AttachTagInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      entityId: t.string({ required: true }),
      entityType: t.field({ type: Type, required: true }),
      name: t.string({ required: true }),
      value: t.string({ description: "An empty text where it is left out." }),
    }),
  });
  const DetachInput = builder.inputType("DetachTagInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      entityId: t.string({ required: true }),
      entityType: t.field({ type: Type, required: true }),
      name: t.string({ required: true }),
    }),
  });
  builder.mutationFields((t) => ({
    attachTag: t.field({
      type: AttachPayload,
      description: "Sets a tag, or replaces its value. A pipeline gets its next version.",
      args: { input: t.arg({ type: AttachInput, required: true }) },
      extensions: { permission: "core_project_edit" },
      resolve: async (_root, { input }, { actor }) => {
        const { entityId, entityType, name } = input;
        const value = input.value ?? "";
        const appId = await change(actor, { type: entityType, id: entityId }, { name, value });
        return payloadOf(input, { tagLink: { appId, entityId, entityType, name, value } });
      },
    }),
    detachTag: t.field({
      type: DetachPayload,
      description: "Takes a tag away; one that is not there stays away.",
      args: { input: t.arg({ type: DetachInput, required: true }) },
      extensions: { permission: "core_project_edit" },
      resolve: async (_root, { input }, { actor }) => {
        const { entityType, entityId, name } = input;
        await change(actor, { type: entityType, id: entityId }, { name, value: null });
        return payloadOf(input, {});
      },
    }),
  }));
}

type TaggedEntity = { readonly type: EntityType; readonly id: string };

const changeTagOf =
  (tagged: TagOperations) =>
  async (actor: Actor, { type, id }: TaggedEntity, to: TagChange): Promise<string | null> => {
    switch (type) {
      case "APPLICATION":
        await tagged.tagApplication(actor, id, to);
        return id;
      case "ENVIRONMENT":
        return tagged.tagEnvironment(actor, id, to);
      case "PIPELINE":
        return tagged.tagPipeline(actor, id, to);
      case "SERVICE":
        return tagged.tagService(actor, id, to);
      case "PROVISIONER":
      case "WORKFLOW":
        throw problem("tag.no_such_entities", [type]);
    }
  };
