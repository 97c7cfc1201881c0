/** The pipelines that the stages of a document run, where every pipeline that is named is the same one. */
import type { Uuid } from "../../core/ids.ts";
import { loadChained } from "../chained/load.ts";
import type { PipelineDocument } from "../document/index.ts";
import { fillPipeline } from "../fill.ts";
import { type Asked, type JobName, type JobOptions, jobs, type Result } from "../jobs/jobs.ts";
import { PIPELINE_LIMITS } from "../document/limits.ts";
import type { Facts } from "../plan.ts";
import type { ChainedPart } from "../run-part.ts";

const CHILD = `pipeline:
  name: Child
  identifier: child
  variables:
    - { name: a, type: String, value: <+input>.default(d) }
  stages:
    - stage:
        name: S
        identifier: s
        type: Custom
        spec:
          execution:
            steps:
              - step: { type: Wait, name: W, identifier: w, spec: { duration: 10s } }
`;

const OPTIONS: JobOptions = { limits: PIPELINE_LIMITS };
const ACCOUNT = "account" as Uuid;
const AUTHOR = { kind: "user" as const, id: "author" as Uuid };

export type Chains = { readonly parts: readonly ChainedPart[]; readonly sets: readonly string[] };

export async function chainsOf(document: PipelineDocument, facts: Facts): Promise<Chains> {
  const sets: string[] = [];
  const actor = { kind: "system" as const, accountId: ACCOUNT };
  const run = { accountId: ACCOUNT, scope: SCOPE, pipelineIdentifier: "p", principals: [], uses: [] };
  const { parts } = await loadChained(
    {
      findPipeline: async (_account, { orgIdentifier, projectIdentifier }, identifier) => ({
        ...SAVED,
        id: [orgIdentifier, projectIdentifier, identifier].join("/") as Uuid,
        identifier,
      }),
      fill: async (_account, { yaml }, to) => fillPipeline({ yaml, ...to, input: to.input }, OPTIONS),
      runJob: async <N extends JobName>(_account: Uuid, name: N, asked: Asked<N>) =>
        (await (jobs[name] as (asked: unknown, options: JobOptions) => unknown)(asked, OPTIONS)) as Result<N>,
      inputsOfSets: async (_actor, _scope, _identifier, references, last) => {
        sets.push(...references);
        return last;
      },
      checkSecretUses: async () => [],
      findReferences: async () => [],
      requirePrincipals: async () => undefined,
    },
    { actor, actsForAuthors: false, run },
    { document, facts, at: () => ({ inInputs: false }), ids: ["p" as Uuid] },
  );
  return { parts, sets };
}

const SCOPE = { orgIdentifier: "default", projectIdentifier: "p" };

const SAVED = {
  ...{ projectId: "project" as Uuid, name: "Child", description: "", tags: {}, version: 1, yaml: CHILD },
  ...{
    projectName: "P",
    author: AUTHOR,
    createdBy: AUTHOR.id,
    createdAt: 0,
    updatedAt: 0,
    stageNames: [],
    variables: "[]",
  },
};
