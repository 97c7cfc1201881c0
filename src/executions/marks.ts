/** What lists of executions can be filtered by besides ids and times: services, environments, tags. */
import { evaluateTemplate, ExpressionError, scopeFor, type Json, type NodeId, type Plan } from "../engine/index.ts";

export type Mark = { readonly kind: "service" | "environment" | "tag"; readonly name: string; readonly value: string };

/** Text that the database can hold: it has no NUL. */
export const storable = (text: string): string => text.replaceAll("\0", "\uFFFD");

/** As much of a name or a value as an index takes; who looks for a longer one looks for its beginning. */
export const markText = (text: string): string => storable(text).slice(0, 250).toWellFormed();

/** The marks of a run, each once, read out of its plan: references with their expressions evaluated, and its tags. */
export function marksOf(plan: Plan): readonly Mark[] {
  const pipeline = objectOf(plan.context["pipeline"]);
  const found = new Map<string, Mark>();
  const add = (kind: Mark["kind"], name: Json | undefined, value = ""): void => {
    if (typeof name !== "string" || name === "") return;
    const mark = { kind, name: markText(name), value: markText(value) };
    found.set(JSON.stringify(mark), mark);
  };
  for (const { node, pipeline: one, home } of [{ node: plan.root, pipeline, home: "" } as const, ...chainedOf(plan)])
    for (const stage of Object.values(objectOf(one["stages"]))) {
      const spec = objectOf(objectOf(stage)["spec"]);
      const named = (reference: Json | undefined): Json | undefined => seenFrom(home, resolved(plan, node, reference));
      add("service", named(objectOf(spec["serviceConfig"])["serviceRef"]));
      add("environment", named(objectOf(spec["infrastructure"])["environmentRef"]));
    }
  for (const [name, value] of Object.entries(tagsOf(plan))) add("tag", name, value);
  return [...found.values()];
}

/** The tags of the pipeline as this run has it. */
export const tagsOf = (plan: Plan): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectOf(objectOf(plan.context["pipeline"])["tags"])).flatMap(([name, value]) =>
      typeof value === "string" ? [[storable(name), storable(value)]] : [],
    ),
  );

type JsonObject = { readonly [key: string]: Json };

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

type Chained = { readonly node: NodeId; readonly pipeline: JsonObject; readonly home: "" | "org" | "account" };

/** The documents of chained pipelines; `home`: the scope that each has in common with the pipeline of the execution. */
const chainedOf = ({ chained = {}, context }: Plan): readonly Chained[] =>
  Object.entries(chained).map(([node, own]) => ({
    ...{ node, pipeline: objectOf(own["pipeline"]) },
    home: homeOf({ context }, own),
  }));

/** The scope that a pipeline of the execution has in common with the execution itself, by the pipeline's context. */
export function homeOf({ context }: Pick<Plan, "context">, own: Plan["context"]): "" | "org" | "account" {
  const isSame = (level: "org" | "project"): boolean =>
    objectOf(own[level])["identifier"] === objectOf(context[level])["identifier"];
  if (!isSame("org")) return "account";
  return isSame("project") ? "" : "org";
}

/** A reference that leads to the same thing from the project of the execution; nothing for another one. */
export function seenFrom(home: Chained["home"], reference: Json | undefined): Json | undefined {
  if (home === "" || typeof reference !== "string") return reference;
  return reference.startsWith("account.") || (home === "org" && reference.startsWith("org.")) ? reference : undefined;
}

/** What a reference says once its expressions have their values; nothing while one of them has none yet. */
function resolved(plan: Plan, node: NodeId, reference: Json | undefined): Json | undefined {
  if (typeof reference !== "string" || !reference.includes("<+")) return reference;
  try {
    return evaluateTemplate(
      reference,
      scopeFor(plan, () => undefined, node),
    );
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}
