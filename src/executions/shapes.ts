/** The answers of wire/rest.ts as schemas, for api/openapi.json. */
import { z } from "zod";
import { INTERRUPTS } from "../engine/index.ts";
import { springPageShape } from "../platform/http/response/pages.ts";
import { epochMs, wireId } from "../platform/http/response/shapes.ts";
import { TRIGGER_TYPES } from "./execution.ts";

const maybe = <T extends z.ZodType>(shape: T) => shape.nullable();

const rerunShape = z.strictObject({
  prevExecutionId: wireId,
  prevTriggerType: z.enum(TRIGGER_TYPES),
  rootExecutionId: wireId,
  rootTriggerType: z.enum(TRIGGER_TYPES),
});

const triggerInfoShape = z.strictObject({
  triggerType: z.enum(TRIGGER_TYPES),
  triggeredBy: z.strictObject({
    uuid: z.string(),
    identifier: z.string(),
    extraInfo: z.strictObject({ email: maybe(z.string()), triggerRef: maybe(z.string()) }),
  }),
  isRerun: z.boolean(),
  rerunInfo: maybe(rerunShape),
});

const metadataShape = z.strictObject({
  runSequence: z.int(),
  triggerInfo: triggerInfoShape,
  pipelineIdentifier: z.string(),
  executionUuid: wireId,
  moduleType: z.literal("cd"),
  retryInfo: maybe(z.strictObject({ isRetry: z.literal(true), rootExecutionId: wireId, parentRetryId: wireId })),
});

export const planExecutionShape = z.strictObject({
  planExecution: z.strictObject({
    uuid: wireId,
    createdAt: epochMs,
    planId: wireId,
    setupAbstractions: z.strictObject({
      accountId: wireId,
      orgIdentifier: z.string(),
      projectIdentifier: z.string(),
    }),
    validUntil: z.null(),
    status: z.string(),
    startTs: maybe(epochMs),
    endTs: maybe(epochMs),
    metadata: metadataShape,
    governanceMetadata: z.null(),
    lastUpdatedAt: epochMs,
    version: z.int(),
    nodeType: z.literal("PLAN"),
    nodeId: wireId,
  }),
  gitDetails: z.null(),
});

const LOG_TAIL = "The last lines of the log of the step that failed, at most 20 lines and 4 KiB, masked.";

const failureShape = z.strictObject({
  message: z.string(),
  failureTypeList: z.array(z.string()),
  responseMessages: z.array(z.unknown()).max(0),
  logTail: maybe(z.string()).describe(LOG_TAIL),
});

const layoutNodeShape = z.strictObject({
  nodeType: z.string(),
  nodeGroup: z.literal("STAGE"),
  nodeIdentifier: z.string(),
  name: z.string(),
  nodeUuid: wireId,
  status: z.string(),
  module: z.literal("cd"),
  moduleInfo: z.strictObject({}),
  startTs: maybe(epochMs),
  endTs: maybe(epochMs),
  edgeLayoutList: z.strictObject({ currentNodeChildren: z.array(wireId), nextIds: z.array(wireId) }),
  skipInfo: z.null(),
  nodeRunInfo: z.null(),
  barrierFound: z.literal(false),
  failureInfo: maybe(z.strictObject({ message: z.string() })),
  failureInfoDTO: maybe(failureShape),
  nodeExecutionId: wireId,
  executionInputConfigured: z.boolean(),
  strategyMetadata: z.null(),
});

export const summaryShape = z.strictObject({
  pipelineIdentifier: z.string(),
  planExecutionId: wireId,
  name: z.string(),
  status: z.string(),
  tags: z.array(z.strictObject({ key: z.string(), value: z.string() })),
  executionTriggerInfo: triggerInfoShape,
  executionErrorInfo: maybe(z.strictObject({ message: z.string(), logTail: maybe(z.string()).describe(LOG_TAIL) })),
  governanceMetadata: z.null(),
  moduleInfo: z.strictObject({}),
  layoutNodeMap: z.record(z.string(), layoutNodeShape),
  modules: z.array(z.literal("cd")),
  startingNodeId: maybe(wireId),
  startTs: maybe(epochMs),
  endTs: maybe(epochMs),
  createdAt: epochMs,
  canRetry: z.boolean(),
  showRetryHistory: z.boolean(),
  runSequence: z.int(),
  successfulStagesCount: z.int(),
  runningStagesCount: z.int(),
  failedStagesCount: z.int(),
  totalStagesCount: z.int(),
  gitDetails: z.null(),
  isStagesExecution: z.boolean(),
  stagesExecuted: z.array(z.string()),
  stagesExecutedNames: maybe(z.record(z.string(), z.string())).describe("Names by identifier."),
  allowStageExecutions: z.boolean(),
  executionInputConfigured: z.boolean().describe("Whether a node asks for inputs when it begins."),
});

const outcomesShape = z.strictObject({
  // Some step types have further members.
  output: z.looseObject({ outputVariables: z.record(z.string(), z.string()) }).optional(),
});
const stepDetailsShape = z.strictObject({
  cancel: z.strictObject({ survivors: z.union([z.int(), z.literal("unknown")]) }).optional(),
});
const delegatesShape = z.array(z.strictObject({ id: wireId, name: z.string(), taskId: wireId, taskName: z.string() }));

const earlierAttemptShape = z.strictObject({
  attempt: z.int(),
  status: z.string(),
  startTs: epochMs,
  endTs: maybe(epochMs),
  failureInfo: maybe(failureShape),
  exitCode: maybe(z.int()),
  outcomes: outcomesShape,
  delegateInfoList: delegatesShape,
  stepDetails: stepDetailsShape,
  children: z.array(wireId),
});

const strategyShape = z.strictObject({
  iteration: z.int(),
  total: z.int(),
  identifierPostfix: z.string(),
  matrix: maybe(z.record(z.string(), z.unknown())),
  item: z.unknown(),
});

export const nodeShape = z.strictObject({
  uuid: wireId,
  setupId: wireId,
  name: z.string(),
  identifier: z.string(),
  baseFqn: z.string(),
  outcomes: outcomesShape,
  stepParameters: z.null(),
  startTs: maybe(epochMs),
  endTs: maybe(epochMs),
  stepType: z.string(),
  status: z.string(),
  waitReason: maybe(z.string()),
  failureInfo: failureShape.describe("With an empty message if the node has not failed."),
  skipInfo: z.null(),
  nodeRunInfo: z.null(),
  executableResponses: z.array(z.unknown()).max(0),
  unitProgresses: z.array(z.unknown()).max(0),
  progressData: z.null(),
  delegateInfoList: delegatesShape,
  interruptHistories: z.array(z.unknown()).max(0),
  stepDetails: stepDetailsShape,
  strategyMetadata: maybe(strategyShape).describe("What tells an iteration of a loop from the others."),
  retryNodeMetadata: maybe(z.strictObject({ originalExecutionId: wireId, originalNodeExecutionId: wireId })).describe(
    "The node of an earlier execution that a retry took over in place of running it.",
  ),
  earlierAttempts: z.array(earlierAttemptShape).describe("Attempts that were followed by a retry, oldest first."),
  executionInputConfigured: z.boolean().describe("Whether it asks for inputs when it begins."),
  logBaseKey: z.string(),
});

export const detailShape = z.strictObject({
  pipelineExecutionSummary: summaryShape,
  executionGraph: z.strictObject({
    rootNodeId: wireId,
    nodeMap: z.record(z.string(), nodeShape),
    nodeAdjacencyListMap: z.record(z.string(), z.strictObject({ children: z.array(wireId), nextIds: z.array(wireId) })),
    representationStrategy: z.literal("camelCase"),
  }),
  childGraph: z.null(),
  rollbackGraph: z.null(),
});

const cursorShape = {
  lastSeenExecutionId: maybe(wireId).describe(
    "Null on the last page; with lastSeenStartTime, where the next one goes on.",
  ),
  lastSeenStartTime: maybe(epochMs),
};

export const executionPageShape = springPageShape(summaryShape).extend(cursorShape);

export const outlineShape = z.strictObject({
  content: z.array(
    z.strictObject({
      planExecutionId: wireId,
      pipelineIdentifier: z.string(),
      name: z.string(),
      runSequence: z.int(),
      status: z.string(),
      startTs: maybe(epochMs),
      endTs: maybe(epochMs),
    }),
  ),
  size: z.int(),
  ...cursorShape,
});

export const inputSetShape = z.strictObject({
  inputSetYaml: maybe(z.string()),
  inputSetTemplateYaml: maybe(z.string()),
  latestTemplateYaml: maybe(z.string()),
  resolvedYaml: z.null(),
  expressionValues: maybe(z.record(z.string(), z.string())),
});

export const interruptShape = z.strictObject({ id: wireId, type: z.enum(INTERRUPTS), planExecutionId: wireId });

/** The older call's answer. */
export const olderInterruptShape = z.strictObject({
  uuid: wireId,
  appId: wireId,
  accountId: wireId,
  executionInterruptType: z.literal("ABORT_ALL"),
  seized: z.literal(true),
  environmentId: z.null(),
  executionUuid: wireId,
  stateExecutionInstanceId: z.null(),
  properties: z.null(),
  createdBy: maybe(z.strictObject({ uuid: wireId, name: z.string(), email: maybe(z.string()) })),
  createdAt: epochMs,
});
