/** The body of `execution/summary`, in our words. */
import { z } from "zod";
import type { Status } from "../../engine/index.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire } from "../../core/ids.ts";
import { BEYOND_DATES, LAST_MOMENT } from "../../platform/document/moments.ts";
import { TRIGGER_TYPES } from "../execution.ts";
import { markText, storable } from "../marks.ts";
import { anywhere, NOTHING, tagged, type Condition } from "../store/conditions.ts";
import type { NamedCondition, NamedFilter } from "../store/names/resolve.ts";
import { fromRestStatus } from "./status.ts";

const moment = z.int().max(LAST_MOMENT, BEYOND_DATES);
/** What is looked for in names. */
const text = z.string().max(256);
const status = z.string().transform((word, context): readonly Status[] => {
  const known = fromRestStatus(word);
  if (known.length === 0) context.addIssue({ code: "custom", message: `'${word}' is no execution status` });
  return known;
});

/** At most this many values of one filter. */
const VALUES = 20;
const person = z.string().transform((text, context) => {
  const id = fromWire(text);
  if (id === undefined)
    context.addIssue({ code: "custom", message: `'${text}' is no id of a user or a service account` });
  return id ?? "";
});
const identifiers = z.array(text).max(VALUES).nullish();

/** The body of `execution/summary` and `summary/outline`. An empty list is no filter. */
export const summaryFilter = z.strictObject({
  filterType: z.literal("PipelineExecution").optional(),
  status: z.array(status).max(20).nullish(),
  pipelineName: text.nullish(),
  timeRange: z.strictObject({ startTime: moment.nullish(), endTime: moment.nullish() }).nullish(),
  pipelineTags: z
    .array(z.strictObject({ key: z.string(), value: z.string().nullish() }))
    .max(20)
    .nullish(),
  triggerTypes: z.array(z.enum(TRIGGER_TYPES)).max(VALUES).nullish(),
  triggerIdentifiers: identifiers.describe("Triggers that started them."),
  triggeredBy: z.array(person).max(VALUES).nullish().describe("Ids of users and service accounts that started them."),
  serviceIdentifiers: identifiers.describe("As stages refer to services: web, org.web, account.web."),
  environmentIdentifiers: identifiers.describe("As stages refer to environments: live, org.live, account.live."),
  // Executions are of one kind: whole runs of deployments.
  executionModeFilter: z.enum(["ALL", "DEFAULT"]).nullish(),
  moduleProperties: z.strictObject({}).nullish(),
});

/** The parameters of the query that filter; the saved filters that `filterIdentifier` names are not supported yet. */
export const summaryQuery = {
  pipelineIdentifier: z.string().optional(),
  searchTerm: text.optional(),
  module: z.string().max(50).optional(),
  status: z.preprocess((given) => (typeof given === "string" ? [given] : given), z.array(status).max(20)).optional(),
  myDeployments: z.enum(["true", "false"], "takes true or false").optional(),
  // What the lists are sorted by anyway.
  sort: z.literal("startTs,DESC", { error: "takes startTs,DESC alone: the newest stand first" }).optional(),
  filterIdentifier: z.never("is not supported yet").optional(),
};

type Body = z.output<typeof summaryFilter>;
type Query = z.output<z.ZodObject<typeof summaryQuery>>;

/** Body and query together; all of it has to hold. */
export const fromSummary = (body: Body, query: Query, actor: Actor): NamedFilter => [
  ...fromBody(body),
  ...startersOf(body),
  ...oneOf("serviceIn", body.serviceIdentifiers?.map(markText)),
  ...oneOf("environmentIn", body.environmentIdentifiers?.map(markText)),
  ...fromQuery(query, actor),
];

/** Who or what started them. One person is compared with `=`, so that the index also gives the order. */
function startersOf({ triggerTypes, triggerIdentifiers, triggeredBy }: Body): NamedFilter {
  const [first, second] = triggeredBy ?? [];
  return [
    ...oneOf("triggerTypeIn", triggerTypes),
    ...oneOf("triggerIdentified", triggerIdentifiers?.map(storable)),
    ...(first !== undefined && second === undefined
      ? [{ is: "personIs" as const, value: first }]
      : oneOf("personIn", triggeredBy)),
  ];
}

/** A condition that one of the values has to meet; none for an empty list. */
const oneOf = <Is extends NamedCondition["is"]>(is: Is, value: readonly string[] | null | undefined) =>
  value && value.length > 0 ? [{ is, value }] : [];

function fromBody({ status: statuses, pipelineName, timeRange, pipelineTags }: Body): NamedFilter {
  const { startTime, endTime } = timeRange ?? {};
  return [
    ...statusesOf(statuses),
    ...(pipelineName ? [{ is: "pipelineLike" as const, value: [anywhere(pipelineName)] }] : []),
    // The range counts both of its ends.
    ...(startTime == null ? [] : [{ is: "startedAfter" as const, value: startTime - 1 }]),
    ...(endTime == null ? [] : [{ is: "startedBefore" as const, value: endTime + 1 }]),
    ...(pipelineTags ?? []).map(({ key, value }) => tagged(key, value)),
  ];
}

function fromQuery({ pipelineIdentifier, searchTerm, module, status: statuses, myDeployments }: Query, actor: Actor) {
  const conditions: NamedCondition[] = statusesOf(statuses);
  if (pipelineIdentifier !== undefined)
    conditions.push({ is: "pipelineIdentifier", value: storable(pipelineIdentifier) });
  if (searchTerm) conditions.push({ is: "pipelineSearch", value: [anywhere(searchTerm)] });
  // All pipelines are of this module.
  if (module && module.toLowerCase() !== "cd") conditions.push(NOTHING);
  if (myDeployments === "true") {
    const isSomebody = actor.kind === "user" || actor.kind === "service_account";
    conditions.push(isSomebody ? { is: "personIs", value: actor.id } : NOTHING);
  }
  return conditions;
}

const statusesOf = (statuses: readonly (readonly Status[])[] | null | undefined): Condition[] =>
  statuses && statuses.length > 0 ? [{ is: "statusIn", value: statuses.flat() }] : [];
