/** The list of delegates. */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { json } from "../../platform/http/response/answers.ts";
import { envelopeOf, textOf } from "../../platform/http/request/bodies.ts";
import { route, type Answer, type Route } from "../../platform/http/routes.ts";
import { epochMs, resourced, wireId } from "../../platform/http/response/shapes.ts";
import { DELEGATE_STATUSES } from "../delegate.ts";
import { unavailableReason, type ListDelegates, type ListedDelegate, type ListFilter } from "../registry/list.ts";

type Operations = { readonly list: ListDelegates };

const VIEW = { permission: "core_delegate_view" };
/** Limit of the list, also with `all=true`. */
const MAX_LISTED = 1_000;

const resource = (body: unknown): Answer => json(200, { metaData: {}, resource: body, responseMessages: [] });

const notYet = z.never().optional();
const tag = z.string().min(1).max(128);

/** The filter of a list of delegates. Fields that do not apply to these delegates are rejected by name. */
const listBody = z.strictObject({
  filterType: z.literal("Delegate").nullish(),
  status: z.enum(["CONNECTED", "DISCONNECTED", ...DELEGATE_STATUSES]).nullish(),
  hostName: z.string().nullish(),
  delegateName: z.string().nullish(),
  delegateGroupIdentifier: z.string().nullish(),
  delegateTags: z.array(tag).max(64).nullish(),
  description: notYet,
  delegateType: notYet,
  delegateInstanceFilter: notYet,
  autoUpgrade: notYet,
  versionStatus: notYet,
});

const STATUS: Readonly<Record<string, Pick<ListFilter, "connected" | "statuses">>> = {
  CONNECTED: { connected: true, statuses: ["ENABLED", "WAITING_FOR_APPROVAL"] },
  DISCONNECTED: { connected: false },
  ENABLED: { statuses: ["ENABLED"] },
  WAITING_FOR_APPROVAL: { statuses: ["WAITING_FOR_APPROVAL"] },
  DELETED: { statuses: ["DELETED"] },
};

const filterOf = (asked: z.output<typeof listBody>): ListFilter => ({
  name: asked.delegateName ?? asked.delegateGroupIdentifier ?? undefined,
  host: asked.hostName ?? undefined,
  tags: asked.delegateTags ?? undefined,
  ...STATUS[asked.status ?? ""],
});

const delegateShape = z.strictObject({
  uuid: wireId,
  accountId: wireId,
  delegateName: z.string(),
  delegateGroupIdentifier: z.string(),
  delegateType: z.literal("SHELL_SCRIPT"),
  hostName: z.string(),
  tags: z.array(z.string()),
  version: z.string(),
  tokenName: z.string(),
  status: z.enum(DELEGATE_STATUSES),
  connected: z.boolean(),
  unavailableReason: z.string().nullable(),
  lastHeartBeat: epochMs,
  createdAt: epochMs,
});

const delegateWire = (delegate: ListedDelegate): z.output<typeof delegateShape> => ({
  uuid: toWire(delegate.id),
  accountId: toWire(delegate.accountId),
  delegateName: delegate.name,
  delegateGroupIdentifier: delegate.name,
  delegateType: "SHELL_SCRIPT",
  hostName: delegate.host,
  tags: [...delegate.tags],
  version: delegate.version,
  tokenName: delegate.tokenName,
  status: delegate.status,
  connected: delegate.connected,
  unavailableReason: unavailableReason(delegate),
  lastHeartBeat: delegate.seenAt,
  createdAt: delegate.createdAt,
});

const listRoute = (operations: Operations): Route =>
  route({
    method: "POST",
    path: "/ng/api/delegate-setup/listDelegates",
    operation: "delegate.list",
    access: VIEW,
    errors: "resource",
    query: z.object({}),
    doc: {
      summary: "List delegates, connected or not",
      body: { schema: listBody, required: false, example: { filterType: "Delegate", status: "CONNECTED" } },
      answer: resourced(z.array(delegateShape)),
    },
    handle: async (call) => {
      const asked = textOf(call.body) === undefined ? {} : envelopeOf(call, listBody);
      const { items } = await operations.list(call.actor, filterOf(asked), { limit: MAX_LISTED, offset: 0 });
      return resource(items.map((delegate) => delegateWire(delegate)));
    },
  });

export const listRoutes = (operations: Operations): readonly Route[] => [listRoute(operations)];
