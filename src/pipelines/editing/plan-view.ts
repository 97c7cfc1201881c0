/** What a run of a document would do, as far as the document says it. */
import { parseDuration } from "../../engine/index.ts";
import type { Doc } from "../../platform/document/document.ts";
import { pathText } from "../../platform/document/position/path.ts";
import { moduleOf } from "../../steps/table.ts";
import { axesOf, knownIterations, type StrategyDocument } from "../document/looping.ts";
import { createNodeFinder } from "../document/node-finder.ts";
import { chainOf, deploymentOf, type PipelineDocument } from "../document/schema.ts";
import { secretsOf, secretsRead } from "../document/secrets.ts";
import {
  ancestorsOf,
  type DocumentNode,
  nodesIn,
  type StageNode,
  type StepNode,
  visitPipeline,
} from "../document/visit.ts";
import type { Controlled } from "../plan-control.ts";
import { DEFAULT_TIMEOUT_MS } from "../plan-nodes.ts";

export type PlanView = ReturnType<typeof planView>;

/** Nodes beyond this number are left out: saving refuses such a pipeline. */
const MAX_PLAN_NODES = 10_000;

type PositionOf = Pick<Doc, "position">["position"];

export function planView(pipeline: PipelineDocument, position: PositionOf) {
  const root = visitPipeline(pipeline);
  const secretsAt = createSecrets(pipeline);
  const all = nodesIn(root).filter((node) => node.kind !== "pipeline");
  const nodes = all.slice(0, MAX_PLAN_NODES).map((node) => nodeView(node, secretsAt(node), position));
  return {
    identifier: pipeline.identifier,
    name: pipeline.name,
    ...timeoutView(pipeline.timeout, undefined),
    delegateSelectors: listOf(pipeline.delegateSelectors),
    secrets: secretsAt(root),
    barriers: (pipeline.flowControl?.barriers ?? []).map(({ identifier, name }) => ({ identifier, name })),
    nodeCount: all.length,
    nodes,
  };
}

type Inner = Exclude<DocumentNode, { readonly kind: "pipeline" }>;

function nodeView(node: Inner, secrets: readonly string[], position: PositionOf) {
  const at = position(node.path);
  const place = {
    path: pathText(node.path),
    parent: node.parent.kind === "pipeline" ? null : pathText(node.parent.path),
    list: node.list,
    line: at?.line ?? null,
    column: at?.column ?? null,
  };
  switch (node.kind) {
    case "parallel":
      return { kind: "Parallel" as const, ...place };
    case "stage":
      return { kind: "Stage" as const, ...place, ...controlView(node.document, secrets), ...stageView(node) };
    case "group":
      return {
        ...{ kind: "StepGroup" as const, ...place, ...controlView(node.document, secrets) },
        delegateSelectors: listOf(node.document.delegateSelectors),
      };
    case "step":
      return {
        ...{ kind: "Step" as const, ...place, ...controlView(node.document, secrets), ...stepTimeout(node) },
        type: node.document.type,
        delegateSelectors: selectorsOf(node),
      };
  }
}

type Described = Controlled & { readonly name: string; readonly description?: string | null | undefined };

const controlView = (document: Described, secrets: readonly string[]) => ({
  identifier: document.identifier,
  name: document.name,
  description: document.description ?? null,
  ...timeoutView(document.timeout, undefined),
  when: whenView(document.when),
  loop: loopView(document.strategy),
  failureStrategies: (document.failureStrategies ?? []).map(({ onFailure }) => ({
    errors: onFailure.errors,
    action: onFailure.action.type,
  })),
  secrets,
});

function whenView(when: Controlled["when"]) {
  if (!when) return null;
  return {
    status: "stageStatus" in when ? when.stageStatus : when.pipelineStatus,
    condition: when.condition ?? null,
  };
}

function loopView(strategy: StrategyDocument | null | undefined) {
  if (!strategy) return null;
  const { matrix, repeat, onFailure } = strategy;
  return {
    kind: matrix ? ("Matrix" as const) : repeat?.items === undefined ? ("Times" as const) : ("Items" as const),
    instances: knownIterations(strategy) ?? null,
    axes: matrix
      ? axesOf(matrix).map(([name, values]) => ({ name, count: typeof values === "string" ? null : values.length }))
      : [],
    maxConcurrency: knownNumber(matrix?.maxConcurrency ?? repeat?.maxConcurrency),
    onFailure: onFailure ?? ("RunAll" as const),
  };
}

const knownNumber = (value: number | string | null | undefined): number | null =>
  value == null || Number.isNaN(Number(value)) ? null : Number(value);

/** `usual`: of a node that says nothing. */
const timeoutView = (timeout: string | null | undefined, usual: number | undefined) => ({
  timeout: timeout ? timeout : null,
  timeoutMs: (timeout ? parseDuration(timeout) : usual) ?? null,
});

const stepTimeout = ({ document }: StepNode) =>
  timeoutView(document.timeout, moduleOf(document.type).defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS);

function stageView({ document }: StageNode) {
  const deployment = deploymentOf(document);
  const chain = chainOf(document);
  const infrastructure = deployment?.infrastructure;
  return {
    type: document.type,
    delegateSelectors: listOf((document as { readonly delegateSelectors?: Selectors }).delegateSelectors),
    service: deployment?.serviceConfig.serviceRef ?? null,
    environment: infrastructure?.environmentRef ?? null,
    infrastructure: infrastructure?.infrastructureDefinition?.spec
      ? {
          connector: infrastructure.infrastructureDefinition.spec.connectorRef,
          namespace: infrastructure.infrastructureDefinition.spec.namespace,
          releaseName: infrastructure.infrastructureDefinition.spec.releaseName,
        }
      : null,
    pipeline: chain
      ? {
          orgIdentifier: chain.org,
          projectIdentifier: chain.project,
          identifier: chain.pipeline,
          inputSetReferences: chain.inputSetReferences ?? [],
        }
      : null,
  };
}

type Selectors = readonly string[] | string | null | undefined;

const listOf = (selectors: Selectors): readonly string[] =>
  typeof selectors === "string" ? [selectors] : (selectors ?? []);

/** Those of the first level, from the step outwards, that has any. */
function selectorsOf(step: StepNode): readonly string[] {
  const { type, spec } = step.document;
  const levels = [moduleOf(type).delegateSelectors(spec), ...ancestorsOf(step).map(selectorsAt)];
  return levels.map(listOf).find((selectors) => selectors.length > 0) ?? [];
}

const selectorsAt = (node: DocumentNode): Selectors =>
  node.kind === "step" || node.kind === "parallel"
    ? undefined
    : (node.document as { readonly delegateSelectors?: Selectors }).delegateSelectors;

/** References of the secrets that a node names, or reads from a variable around it. */
function createSecrets(pipeline: PipelineDocument): (node: DocumentNode) => readonly string[] {
  const nodeAt = createNodeFinder(visitPipeline(pipeline));
  const named = Map.groupBy(secretsOf(pipeline), ({ path }) => nodeAt(path));
  const read = Map.groupBy(secretsRead(pipeline), ({ node }) => node);
  return (node) => [
    ...new Set([...(named.get(node) ?? []), ...(read.get(node) ?? [])].map(({ reference }) => reference)),
  ];
}
