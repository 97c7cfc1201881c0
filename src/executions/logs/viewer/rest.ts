/** Routes that read the log of a node by lines. */
import { z } from "zod";
import { flag, maybeProjectQuery, wholeNumber } from "../../../platform/http/request/queries.ts";
import { ok } from "../../../platform/http/response/answers.ts";
import { enveloped } from "../../../platform/http/response/shapes.ts";
import { route, type Call, type Route } from "../../../platform/http/routes.ts";
import { MARKERS, MOST_GROUPS, type ListGroups } from "./list-groups.ts";
import { MOST_LINES, type ReadLines } from "./read-lines.ts";
import { MOST_HITS, type SearchLog } from "./search-log.ts";

export type ViewerVerbs = {
  readonly readLines: ReadLines;
  readonly searchLog: SearchLog;
  readonly listGroups: ListGroups;
};

const PATH = "/pipeline/api/pipelines/execution/:planExecutionId/logs";
const LONGEST_TEXT = 256;

const numberUpTo = (most: number) =>
  wholeNumber(most).refine((given) => given > 0, `takes a whole number from 1 to ${most}`);

const ofNode = maybeProjectQuery.extend({
  nodeExecutionId: z.string({ error: "is required" }),
  attempt: wholeNumber().describe("The log of this attempt, from 1; of all attempts without it.").optional(),
});
const offset = wholeNumber().default(0).describe("A byte offset: `next` of the answer before.");

const lineQuery = ofNode
  .extend({
    from: numberUpTo(Number.MAX_SAFE_INTEGER).describe("The number of the first line, from 1.").optional(),
    limit: numberUpTo(MOST_LINES).optional(),
    last: numberUpTo(MOST_LINES).describe("The last lines, instead of from and limit.").optional(),
  })
  .refine(({ from, limit, last }) => last === undefined || (from === undefined && limit === undefined), {
    error: "cannot be combined with from and limit",
    path: ["last"],
  });

const searchQuery = ofNode.extend({
  text: z
    .string({ error: "is required" })
    .min(1, "is required")
    .max(LONGEST_TEXT, `takes at most ${LONGEST_TEXT} characters`)
    .refine((text) => !/[\r\n]/.test(text), "has a line break; it is looked for within lines"),
  caseSensitive: flag,
  from: offset,
  limit: numberUpTo(MOST_HITS).default(MOST_HITS),
});

const groupQuery = ofNode.extend({ from: offset, limit: numberUpTo(MOST_GROUPS).default(MOST_GROUPS) });

const size = {
  totalLines: z.int().describe("Lines that are there now. The last one may still grow."),
  endOffset: z.int().describe("Bytes that are there now."),
  complete: z.boolean().describe("Whether nothing will be added."),
};
const scanned = {
  ...size,
  next: z.int().describe("The `from` to continue with: now if there is more, otherwise once the log has grown."),
  more: z.boolean().describe("Whether there is more to look through now."),
};

const linesShape = z.strictObject({
  lines: z.array(
    z.strictObject({
      number: z.int().describe("From 1."),
      time: z.string().nullable().describe("When the server took the output that the line begins in."),
      text: z.string().describe("Without the line break, with its escape sequences and carriage returns."),
      cut: z
        .strictObject({ offset: z.int(), bytes: z.int() })
        .optional()
        .describe("The line is longer than its text. Download it with this offset as from, and limit."),
    }),
  ),
  ...size,
});
const hitsShape = z.strictObject({ hits: z.array(z.int()).describe("Numbers of lines, ascending."), ...scanned });
const groupsShape = z.strictObject({
  groups: z.array(z.strictObject({ number: z.int(), marker: z.enum(MARKERS), title: z.string() })),
  ...scanned,
});

const executionOf = ({ params }: Pick<Call, "params">): string => params["planExecutionId"] ?? "";

const linesRoute = ({ readLines }: ViewerVerbs): Route =>
  route({
    method: "GET",
    path: `${PATH}/lines`,
    operation: "execution.log-lines",
    access: { permission: "core_pipeline_view" },
    query: lineQuery,
    doc: {
      summary: "Read lines of the log of a node by their numbers",
      description:
        "Fewer lines than asked for come if they have more than 1 MiB together. The text of a line has at most 16 KiB: of a longer one its beginning, or what follows its last carriage return.",
      answer: enveloped(linesShape),
    },
    handle: async (call) => {
      const { nodeExecutionId, attempt, from = 1, limit = MOST_LINES, last, ...scope } = call.query;
      const range = last === undefined ? { from, limit } : { last };
      return ok(call, await readLines(call.actor, executionOf(call), scope, { nodeExecutionId, attempt, ...range }));
    },
  });

const searchRoute = ({ searchLog }: ViewerVerbs): Route =>
  route({
    method: "GET",
    path: `${PATH}/search`,
    operation: "execution.search-logs",
    access: { permission: "core_pipeline_view" },
    query: searchQuery,
    doc: {
      summary: "Find the lines of the log of a node that contain a text",
      description:
        "Upper and lower case are equal, unless caseSensitive=true. Escape sequences of terminals are left out. A request looks through 64 MiB or finds limit lines, and says with `next` and `more` how to continue.",
      queryExample: { text: "error" },
      answer: enveloped(hitsShape),
    },
    handle: async (call) => {
      const { nodeExecutionId, attempt, text, caseSensitive, from, limit, ...scope } = call.query;
      const search = { nodeExecutionId, attempt, text, caseSensitive, from, limit };
      return ok(call, await searchLog(call.actor, executionOf(call), scope, search));
    },
  });

const groupsRoute = ({ listGroups }: ViewerVerbs): Route =>
  route({
    method: "GET",
    path: `${PATH}/groups`,
    operation: "execution.log-groups",
    access: { permission: "core_pipeline_view" },
    query: groupQuery,
    doc: {
      summary: "List the lines of the log of a node that begin or end a group",
      description:
        "Lines that begin with `--- `, `+++ `, `~~~ `, `::group::` or `::endgroup::`. A request looks through 64 MiB or finds limit lines, and says with `next` and `more` how to continue.",
      answer: enveloped(groupsShape),
    },
    handle: async (call) => {
      const { nodeExecutionId, attempt, from, limit, ...scope } = call.query;
      return ok(
        call,
        await listGroups(call.actor, executionOf(call), scope, { nodeExecutionId, attempt, from, limit }),
      );
    },
  });

export const viewerRoutes = (verbs: ViewerVerbs): readonly Route[] => [
  linesRoute(verbs),
  searchRoute(verbs),
  groupsRoute(verbs),
];
