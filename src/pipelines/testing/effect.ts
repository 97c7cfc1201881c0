/** What a document comes to: all that a run and the saved pipeline have of it, beside what expressions see. */
import type { Uuid } from "../../core/ids.ts";
import { evaluateTemplate, ExpressionError, scopeFor } from "../../engine/index.ts";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "../document/index.ts";
import { referencesIn } from "../document/references.ts";
import { fillIn, inputTemplate } from "../inputs.ts";
import { buildPlan, type Facts } from "../plan.ts";
import { shownOf } from "../shown.ts";
import { secretsNamedIn } from "../uses.ts";
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
export function effectOf(document: Fields): Effect {
  const read = attempt(() => readPipeline(JSON.stringify(document), SCOPE, { format: "json" }));
  if ("refusal" in read) return read;
  const { pipeline } = read.result;
  const { name, identifier, description = "", tags = {} } = pipeline;
  const references = referencesIn(pipeline).map(({ kind, value }) => [kind, value]);
  const text = JSON.stringify({
    record: { name, identifier, description, tags, ...shownOf(pipeline) },
    uses: [references, secretsNamedIn(pipeline), inputTemplate(pipeline)],
    run: attempt(() => runOf(pipeline)),
  });
  return { text };
}

function runOf(pipeline: Parameters<typeof fillIn>[0]): unknown {
  const filled = fillIn(pipeline, undefined);
  let made = 0;
  const documents = { document: filled.pipeline, authored: filled.authored, connectors: CONNECTORS };
  const plan = buildPlan(documents, FACTS, () => `n${(made += 1)}`);
  const target = Object.values(plan.nodes).map(({ id }) =>
    attemptExpression(() =>
      evaluateTemplate(
        INFRA,
        scopeFor(plan, () => undefined, id),
      ),
    ),
  );
  return { nodes: plan.nodes, variables: variablesIn(plan.context), target };
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

function attempt<T>(work: () => T): { readonly result: T } | { readonly refusal: string } {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof Problem) return { refusal: error.message };
    throw error;
  }
}
