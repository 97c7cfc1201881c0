/** What a document comes to: all that a run and the saved pipeline have of it, beside what expressions see. */
import type { Uuid } from "../../core/ids.ts";
import { evaluateTemplate, ExpressionError, scopeFor } from "../../engine/index.ts";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "../document/index.ts";
import { stageChoices } from "../document/select-stages.ts";
import { referencesIn } from "../document/references.ts";
import { fillIn, inputTemplate } from "../inputs.ts";
import type { Facts } from "../plan.ts";
import { planOfPart } from "../run-part.ts";
import { shownOf } from "../shown.ts";
import { secretsNamedIn } from "../uses.ts";
import { chainsOf } from "./chained.ts";
import type { Fields } from "./field-samples.ts";

const SCOPE = { orgIdentifier: "default", projectIdentifier: "p" };

const FACTS: Facts = {
  account: { identifier: "a" },
  org: { identifier: SCOPE.orgIdentifier },
  project: { identifier: SCOPE.projectIdentifier, name: "P" },
  execution: {
    id: "x",
    sequenceId: 1,
    startTs: 0,
    triggerType: "MANUAL",
    triggeredBy: { name: "Ada", email: "ada@example.com" },
  },
  trigger: { type: "Custom", payload: { empty: "" }, header: {} },
};

const CONNECTORS = new Map([["cluster", { id: "c" as Uuid, type: "K8sCluster", selectors: [], isInherited: false }]]);

export type Effect = { readonly refusal: string } | { readonly text: string };

/** `refusal`: of saving. A run that is refused is an effect. */
export async function effectOf(document: Fields): Promise<Effect> {
  const read = await attempt(() => readPipeline(JSON.stringify(document), SCOPE, { format: "json" }));
  if ("refusal" in read) return read;
  const { pipeline } = read.result;
  const { name, identifier, description = "", tags = {} } = pipeline;
  const references = referencesIn(pipeline).map(({ kind, value }) => [kind, value]);
  const text = JSON.stringify({
    record: { name, identifier, description, tags, ...shownOf(pipeline) },
    uses: [references, secretsNamedIn(pipeline), inputTemplate(pipeline)],
    run: await attempt(() => runOf(pipeline)),
    allowStageExecutions: stageChoices(pipeline),
  });
  return { text };
}

async function runOf(pipeline: Parameters<typeof fillIn>[0]): Promise<unknown> {
  const filled = fillIn(pipeline, undefined);
  let made = 0;
  const documents = { document: filled.pipeline, authored: filled.authored, asks: filled.asks, connectors: CONNECTORS };
  const { parts, sets } = await chainsOf(filled.pipeline, FACTS);
  const part = { filled: documents, references: [], chained: parts };
  const plan = planOfPart(part, FACTS, () => `n${(made += 1)}`);
  const target = Object.values(plan.nodes).map(({ id }) =>
    attemptExpression(() =>
      evaluateTemplate(
        INFRA,
        scopeFor(plan, () => undefined, id),
      ),
    ),
  );
  return { nodes: plan.nodes, variables: variablesIn([plan.context, plan.chained]), target, sets };
}

/** What steps read of their infrastructure. */
const INFRA = "<+infra.connectorRef> <+infra.namespace> <+infra.releaseName> <+INFRA_KEY>";

function attemptExpression(work: () => string): string {
  try {
    return work();
  } catch (error) {
    if (error instanceof ExpressionError) return "";
    throw error;
  }
}

/** The values that variables have come to, wherever they stand. */
function variablesIn(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    key === "variables" ? [part] : variablesIn(part),
  );
}

async function attempt<T>(work: () => T | Promise<T>): Promise<{ readonly result: T } | { readonly refusal: string }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof Problem) return { refusal: error.message };
    throw error;
  }
}
