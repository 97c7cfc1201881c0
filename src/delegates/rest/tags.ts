/** The tags of one delegate, addressed by id, and by name ("group") in the newer paths. */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { json } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { route, type Answer, type Call, type Route } from "../../platform/http/routes.ts";
import { resourced, wireId } from "../../platform/http/response/shapes.ts";
import { MAX_TAGS, type TaggedDelegate } from "../delegate.ts";
import type { ListDelegates } from "../registry/list.ts";
import type { ChangeTags, DelegateRef, GetTags } from "../registry/tags.ts";

type Operations = { readonly getTags: GetTags; readonly changeTags: ChangeTags; readonly list: ListDelegates };

/** Limit of the list. */
const MAX_LISTED = 1_000;

const tagsBody = z.strictObject({ tags: z.array(z.string().min(1).max(128)).max(MAX_TAGS) });
const holdersBody = z.strictObject({ tags: z.array(z.string().min(1).max(128)).min(1).max(MAX_TAGS) });
const body = { schema: tagsBody, example: { tags: ["linux", "eu"] } };

/** How one family of paths names a delegate and represents it. */
type Family = {
  readonly path: string;
  readonly operation: string;
  readonly account: "accountId" | "accountIdentifier";
  readonly ref: (call: Call) => DelegateRef;
  readonly wire: (delegate: TaggedDelegate) => object;
  readonly shape: z.ZodType;
};

const byId: Family = {
  path: "/api/delegate/:delegateId/delegate-tags",
  operation: "delegate-tags",
  account: "accountId",
  ref: (call) => ({ delegateId: call.params["delegateId"] ?? "" }),
  wire: ({ accountId, id, name, tags }) => ({
    accountId: toWire(accountId),
    delegateId: toWire(id),
    delegateName: name,
    tags,
  }),
  shape: z.strictObject({
    accountId: wireId,
    delegateId: wireId,
    delegateName: z.string(),
    tags: z.array(z.string()),
  }),
};

const byName: Family = {
  path: "/ng/api/delegate-group-tags/:groupIdentifier",
  operation: "delegate-group-tags",
  account: "accountIdentifier",
  ref: (call) => ({ name: call.params["groupIdentifier"] ?? "" }),
  wire: ({ accountId, name, tags }) => ({
    accountIdentifier: toWire(accountId),
    orgIdentifier: null,
    projectIdentifier: null,
    name,
    identifier: name,
    tags,
  }),
  shape: z.strictObject({
    accountIdentifier: wireId,
    orgIdentifier: z.null(),
    projectIdentifier: z.null(),
    name: z.string(),
    identifier: z.string(),
    tags: z.array(z.string()),
  }),
};

function familyRoutes(operations: Operations, family: Family): readonly Route[] {
  const shared = {
    path: family.path,
    account: family.account,
    errors: "resource",
    query: z.object({}),
  } as const;
  const answer = resourced(family.shape);
  const shown = (delegate: TaggedDelegate): Answer =>
    json(200, { metaData: {}, resource: family.wire(delegate), responseMessages: [] });
  const change = (method: "POST" | "PUT", verb: string, how: "add" | "replace", summary: string): Route =>
    route({
      ...shared,
      method,
      operation: `${family.operation}.${verb}`,
      access: { permission: "core_delegate_edit" },
      doc: { summary, body, answer },
      handle: async (call) => {
        const { tags } = envelopeOf(call, tagsBody);
        return shown(await operations.changeTags(call.actor, family.ref(call), { how, tags }));
      },
    });
  return [
    route({
      ...shared,
      method: "GET",
      operation: `${family.operation}.get`,
      access: { permission: "core_delegate_view" },
      doc: { summary: "Read the tags of a delegate", answer },
      handle: async (call) => shown(await operations.getTags(call.actor, family.ref(call))),
    }),
    change("POST", "add", "add", "Add tags to a delegate"),
    change("PUT", "replace", "replace", "Replace the tags of a delegate"),
    route({
      ...shared,
      method: "DELETE",
      operation: `${family.operation}.clear`,
      access: { permission: "core_delegate_edit" },
      doc: { summary: "Remove all tags of a delegate", answer },
      handle: async (call) =>
        shown(await operations.changeTags(call.actor, family.ref(call), { how: "replace", tags: [] })),
    }),
  ];
}

/** A group of delegates in its public shape. */
export const { shape: groupShape, wire: groupWire } = byName;

const holdersRoute = ({ list }: Pick<Operations, "list">): Route =>
  route({
    method: "POST",
    path: "/ng/api/delegate-group-tags/delegate-groups",
    operation: "delegate-group-tags.holders",
    access: { permission: "core_delegate_view" },
    account: "accountIdentifier",
    errors: "resource",
    query: z.object({}),
    doc: {
      summary: "List the delegates that have all the tags",
      body: { schema: holdersBody, example: { tags: ["linux"] } },
      answer: resourced(z.array(byName.shape)),
    },
    handle: async (call) => {
      const { tags } = envelopeOf(call, holdersBody);
      const { items } = await list(call.actor, { tags, statuses: ["ENABLED"] }, { limit: MAX_LISTED, offset: 0 });
      const resource = items.map((delegate) => byName.wire(delegate));
      return json(200, { metaData: {}, resource, responseMessages: [] });
    },
  });

export const tagRoutes = (operations: Operations): readonly Route[] => [
  holdersRoute(operations),
  ...familyRoutes(operations, byId),
  ...familyRoutes(operations, byName),
];
