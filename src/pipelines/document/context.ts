import type { Json } from "../../engine/index.ts";
import { isExact } from "../../platform/document/json/checked-json.ts";
import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument, StageDocument, StepDocument, VariableDocument } from "./schema.ts";

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
  /** Index of the stage that it belongs to; undefined for the pipeline's own. */
  readonly stage: number | undefined;
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
export function contextOf(pipeline: PipelineDocument, facts: SomeFacts): Context {
  const pending: Pending[] = [];
  const { execution, account, org, project, trigger } = facts;
  const variables = valuesOf(pipeline.variables, {
    ...{ place: "pipeline.variables", path: ["pipeline", "variables"], stage: undefined, pending },
  });
  const stages = pipeline.stages.map(
    ({ stage }, index) => [stage.identifier, stageContext(stage, index, pending)] as const,
  );
  const value = {
    account: plain(account),
    org: plain(org),
    project: plain(project),
    trigger: plain(trigger),
    pipeline: {
      ...plain(pipeline),
      orgIdentifier: org.identifier,
      projectIdentifier: project.identifier,
      tags: plain(pipeline.tags ?? {}),
      variables,
      stages: Object.fromEntries(stages),
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

function stageContext(stage: StageDocument, index: number, pending: Pending[]): Json {
  const place = `pipeline.stages.${stage.identifier}`;
  const { serviceConfig, infrastructure, execution, ...spec } = stage.spec;
  const definition = serviceConfig.serviceDefinition;
  const path = ["pipeline", "stages", index, "stage"];
  const variables = valuesOf(stage.variables, {
    ...{ place: `${place}.variables`, path: [...path, "variables"], stage: index, pending },
  });
  const service = valuesOf(definition?.spec?.variables, {
    place: `${place}.spec.serviceConfig.variables`,
    path: [...path, "spec", "serviceConfig", "serviceDefinition", "spec", "variables"],
    stage: index,
    pending,
  });
  return {
    ...plain(stage),
    tags: plain(stage.tags ?? {}),
    variables,
    spec: {
      ...plain(spec),
      serviceConfig: {
        ...plain(serviceConfig),
        ...(definition && {
          serviceDefinition: { ...plain(definition), spec: { ...plain(definition.spec ?? {}), variables: service } },
        }),
      },
      infrastructure: plain(infrastructure),
      execution: { steps: stepsContext(execution.steps), rollbackSteps: stepsContext(execution.rollbackSteps ?? []) },
    },
  };
}

const stepsContext = (items: readonly { readonly step: StepDocument }[]): Json =>
  Object.fromEntries(items.map(({ step }) => [step.identifier, stepContext(step)]));

function stepContext(step: StepDocument): Json {
  const plainOnes = (step.spec.environmentVariables ?? []).filter(({ type }) => type !== "Secret");
  const environment = plainOnes.map(({ name, value }) => [name, value ?? ""] as const);
  const { connectorRef: _, ...target } = step.spec.executionTarget ?? {};
  const spec = { ...plain(step.spec), environmentVariables: Object.fromEntries(environment) };
  return { ...plain(step), spec: step.spec.executionTarget ? { ...spec, executionTarget: plain(target) } : spec };
}

/** Name → value. Values with expressions are left empty and noted, to be evaluated in order. */
function valuesOf(
  list: readonly VariableDocument[] | null | undefined,
  { place, path, stage, pending }: Pick<Pending, "place" | "path" | "stage"> & { readonly pending: Pending[] },
): JsonMap {
  const into: JsonMap = {};
  for (const [index, variable] of (list ?? []).entries()) {
    // Nothing that expressions see holds a secret, nor says which one is used.
    if (variable.type === "Secret") continue;
    if (typeof variable.value === "string" && variable.value.includes("<+")) {
      const at = { place: `${place}.${variable.name}`, path: [...path, index, "value"], stage };
      pending.push({ variable, into, ...at });
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
