import type { Json } from "../../engine/index.ts";
import type { Target } from "../../environments/index.ts";
import { isExact } from "../../platform/document/json/checked-json.ts";
import type { Path } from "../../platform/document/position/path.ts";
import { chainOf, deploymentOf, type PipelineDocument, type StepDocument, type VariableDocument } from "./schema.ts";
import { moduleOf } from "../../steps/table.ts";
import { isInputExpression } from "./input-expression.ts";
import { SERVICE_VARIABLES } from "./texts.ts";
import {
  type DocumentNode,
  type GroupNode,
  type ListName,
  namedChildren,
  type PipelineNode,
  type StageNode,
  visitPipeline,
} from "./visit.ts";

/** What a run knows beside its pipeline, for `<+pipeline.…>`, `<+account.…>`, `<+trigger.…>` and their like. */
export type Facts = {
  readonly account: { readonly identifier: string; readonly name?: string };
  readonly org: { readonly identifier: string };
  readonly project: { readonly identifier: string; readonly name: string };
  readonly execution: {
    readonly id: string;
    readonly sequenceId: number;
    /** Epoch milliseconds. */
    readonly startTs: number;
    readonly triggerType: string;
    readonly triggeredBy: { readonly name: string; readonly email: string };
  };
  readonly trigger: {
    readonly type: string;
    readonly payload: Json;
    readonly header: { readonly [name: string]: string };
  } | null;
  /** Services and environments of the stages by their references, as they are at the start. */
  readonly targets?: { readonly [root in "service" | "env"]: { readonly [reference: string]: Target } };
  /** Variables of a chained pipeline that have no value before its stage begins. */
  readonly late?: ReadonlySet<string>;
};

type JsonMap = { [key: string]: Json };

/** Variables whose value is still a template, in the order in which they are evaluated. */
export type Pending = {
  readonly variable: VariableDocument;
  /** Where its value goes: the object that the context shows as `variables`. */
  readonly into: JsonMap;
  /** Names it in messages, as in `pipeline.variables.tag`. */
  readonly place: string;
  /** Where its value stands in the document. */
  readonly path: Path;
  /** The node that it belongs to. */
  readonly node: DocumentNode;
};

/** The facts, or those of them that hold before the run is made. */
export type SomeFacts = Omit<Facts, "execution" | "project"> & {
  readonly project: { readonly identifier: string; readonly name?: string };
  readonly execution: Facts["execution"] | null;
};

export type Context = { readonly value: { readonly [key: string]: Json }; readonly pending: readonly Pending[] };

/**
 * What expressions see: the document with stages and steps as objects by
 * identifier and variables as name → value, and the facts of the run. Nothing
 * in it depends on the order of keys, and absent maps are empty ones.
 */
export function contextOf(document: PipelineDocument, facts: SomeFacts): Context {
  const pending: Pending[] = [];
  const { execution, account, org, project, trigger, targets, late = NONE } = facts;
  const value = {
    account: plain(account),
    org: plain(org),
    project: plain(project),
    trigger: plain(trigger),
    ...(targets && { targets: plain(targets) }),
    pipeline: {
      ...pipelineContext(visitPipeline(document), pending, late),
      orgIdentifier: org.identifier,
      projectIdentifier: project.identifier,
      ...(execution && {
        executionId: execution.id,
        sequenceId: execution.sequenceId,
        startTs: execution.startTs,
        triggerType: execution.triggerType,
        triggeredBy: plain(execution.triggeredBy),
      }),
    },
  };
  return { value, pending };
}

const NONE: ReadonlySet<string> = new Set();

function pipelineContext(node: PipelineNode, pending: Pending[], late: ReadonlySet<string> = NONE): JsonMap {
  const { stages: _, tags, ...rest } = node.document;
  return {
    ...plain(rest),
    tags: plain(tags ?? {}),
    variables: without(valuesOf(rest.variables, { node, below: ["variables"] }, pending), late),
    stages: childrenContext(node, "stages", pending),
  };
}

function without(values: JsonMap, names: ReadonlySet<string>): JsonMap {
  for (const name of names) delete values[name];
  return values;
}

/** The nodes of a list by their identifiers; those that run in parallel stand among the others. */
const childrenContext = (node: DocumentNode, list: ListName, pending: Pending[]): Json =>
  Object.fromEntries(
    namedChildren(node, list).map((child) => [child.document.identifier, nodeContext(child, pending)]),
  );

function nodeContext(node: Exclude<DocumentNode, { readonly kind: "parallel" }>, pending: Pending[]): Json {
  switch (node.kind) {
    case "pipeline":
      return pipelineContext(node, pending);
    case "stage":
      return stageContext(node, pending);
    case "group":
      return groupContext(node, pending);
    case "step":
      return stepContext(node.document);
  }
}

const stepLists = (node: DocumentNode, pending: Pending[]): { readonly [list: string]: Json } => ({
  steps: childrenContext(node, "steps", pending),
  rollbackSteps: childrenContext(node, "rollbackSteps", pending),
});

function stageContext(node: StageNode, pending: Pending[]): Json {
  const { spec: _, variables, tags, ...rest } = node.document;
  const deployment = deploymentOf(node.document);
  const chain = chainOf(node.document);
  return {
    ...plain(rest),
    tags: plain(tags ?? {}),
    variables: valuesOf(variables, { node, below: ["variables"] }, pending),
    spec: {
      ...(deployment && deploymentContext(node, deployment, pending)),
      ...(chain ? chainContext(chain) : { execution: stepLists(node, pending) }),
    },
  };
}

/** Its inputs are evaluated when the stage begins, and its outputs when the pipeline ends. */
const chainContext = ({ org, project, pipeline }: NonNullable<ReturnType<typeof chainOf>>): JsonMap => ({
  ...{ org, project, pipeline },
});

type Deployment = NonNullable<ReturnType<typeof deploymentOf>>;

function deploymentContext(node: StageNode, { execution: _, ...spec }: Deployment, pending: Pending[]): JsonMap {
  const definition = spec.serviceConfig.serviceDefinition;
  const variables = valuesOf(definition?.spec?.variables, { node, below: SERVICE_VARIABLES }, pending);
  const service = { ...plain(spec.serviceConfig) };
  if (definition)
    service["serviceDefinition"] = { ...plain(definition), spec: { ...plain(definition.spec ?? {}), variables } };
  return { ...plain(spec), serviceConfig: service };
}

function groupContext(node: GroupNode, pending: Pending[]): Json {
  const { steps: _, rollbackSteps: __, variables, ...rest } = node.document;
  const own = valuesOf(variables, { node, below: ["variables"] }, pending);
  return { ...plain(rest), variables: own, ...stepLists(node, pending) };
}

const stepContext = ({ spec, ...step }: StepDocument): Json => ({
  ...plain(step),
  spec: moduleOf(step.type).shown(spec),
});

/** Name → value. Values with expressions are left empty and noted, to be evaluated in order. `below` leads to the list. */
function valuesOf(
  list: readonly VariableDocument[] | null | undefined,
  { node, below }: { readonly node: PipelineNode | StageNode | GroupNode; readonly below: readonly string[] },
  pending: Pending[],
): JsonMap {
  const into: JsonMap = {};
  for (const [index, variable] of (list ?? []).entries()) {
    // Nothing that expressions see holds a secret, nor says which one is used. What is submitted comes from the node.
    if (variable.type === "Secret" || isInputExpression(variable.value)) continue;
    if (typeof variable.value === "string" && variable.value.includes("<+")) {
      const place = [...node.names, ...below, variable.name].join(".");
      pending.push({ variable, into, node, place, path: [...node.path, ...below, index, "value"] });
    } else into[variable.name] = valueOf(variable);
  }
  return into;
}

/** A variable's value in its type: text for String; a number for Number, or its digits where a double cannot hold them. */
export function valueOf({ type, value }: Pick<VariableDocument, "type" | "value">): Json {
  const text = String(value ?? "");
  return type === "Number" && text !== "" && isExact(text) ? Number(text) : text;
}

/** A copy that is JSON and nothing else; fields that are undefined vanish. */
const plain = <T extends object | null>(value: T): T extends null ? Json : { [key: string]: Json } =>
  JSON.parse(JSON.stringify(value)) as T extends null ? Json : { [key: string]: Json };
