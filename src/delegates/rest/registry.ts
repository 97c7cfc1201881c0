/** The delegates of the account: their list, their event stream, and the command that starts one. */
import { z } from "zod";
import { json } from "../../platform/http/response/answers.ts";
import { envelopeOf, textOf } from "../../platform/http/request/bodies.ts";
import { route, type Answer, type Route } from "../../platform/http/routes.ts";
import { resourced } from "../../platform/http/response/shapes.ts";
import { DELEGATE_STATUSES } from "../delegate.ts";
import { maybeTexts } from "../../platform/http/request/queries.ts";
import type { FollowDelegates } from "../following/follow-delegates.ts";
import type { ListDelegates, ListFilter } from "../registry/list.ts";
import { TOKEN_PLACEHOLDER, type GetStartCommand } from "../registry/start-command.ts";
import { delegateShape, delegateWire } from "../wire.ts";

type Operations = {
  readonly list: ListDelegates;
  readonly follow: FollowDelegates;
  readonly getStartCommand: GetStartCommand;
};

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

const followRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: "/ng/api/delegate-setup/events",
    operation: "delegate.follow",
    access: VIEW,
    errors: "resource",
    query: z.object({}),
    doc: {
      summary: "Follow the delegates of the account as server-sent events",
      description:
        "`delegates` has delegates that are new or have changed, as delegate.list answers them. After `reset`, with which " +
        "a stream begins, list them. A heartbeat alone is no change.",
      answer: "text/event-stream",
    },
    handle: async (call) => ({ kind: "events", run: operations.follow(call.actor) }),
  });

/** Names and tags as delegates declare them. */
const word = (name: string) =>
  z
    .string({ error: "is required" })
    .max(128, "takes at most 128 characters")
    .regex(/^(?=.*\S)\P{Cc}+$/u, `takes 1 to 128 printable characters as the ${name} of a delegate`);

const commandShape = z.strictObject({
  command: z.string().describe("One line for a POSIX shell, in a folder where Railhead is installed."),
  tokenPlaceholder: z.literal(TOKEN_PLACEHOLDER).describe("What the command has in place of the delegate token."),
});

const startCommandRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: "/ng/api/delegate-setup/start-command",
    operation: "delegate.get-start-command",
    access: VIEW,
    errors: "resource",
    query: z.object({
      name: word("name"),
      tag: maybeTexts("tag").pipe(z.array(word("tag")).max(64, "names at most 64 tags").optional()),
    }),
    doc: {
      summary: "The shell command that starts a delegate of this server, without the token",
      queryExample: { name: "build-1", tag: "linux" },
      answer: resourced(commandShape),
    },
    handle: async (call) => {
      const { name, tag: tags = [] } = call.query;
      const command = operations.getStartCommand(call.actor, { name, tags });
      return resource({ command, tokenPlaceholder: TOKEN_PLACEHOLDER });
    },
  });

export const listRoutes = (operations: Operations): readonly Route[] => [
  listRoute(operations),
  followRoute(operations),
  startCommandRoute(operations),
];
