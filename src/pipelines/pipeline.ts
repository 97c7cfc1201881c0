import type { Uuid } from "../core/ids.ts";
import type { Author } from "../identity/index.ts";

/** A definition: YAML in versions. This is what lists show of it. */
export type Pipeline = {
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly version: number;
  readonly createdBy: Uuid | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A pipeline with the YAML of its newest version, as it was sent. */
export type PipelineWithYaml = Pipeline & { readonly yaml: string };

/** For the audit trail. */
export const shownPipeline = ({
  version,
  name,
  description,
  tags,
  yaml,
}: Pick<PipelineWithYaml, "version" | "name" | "description" | "tags" | "yaml">) => ({
  version,
  name,
  description,
  tags,
  yaml,
});

/** What lists show of a version that its columns do not have; `variables` are JSON. */
export type Shown = { readonly stageNames: readonly string[]; readonly variables: string };

/** A version as lists show it. */
export type PipelineVersion = {
  readonly version: number;
  readonly createdBy: Uuid | null;
  readonly createdAt: number;
};

/** A pipeline with the names of its stages, in order. */
export type PipelineSummary = Pipeline & { readonly stageNames: readonly string[] };

/** What became of one run, as a list of pipelines shows it; words and times are those of the interface. */
export type RunBrief = {
  readonly planExecutionId: string;
  readonly status: string;
  readonly startTs: number | null;
  readonly endTs: number | null;
  readonly runSequence: number;
  readonly triggerType: string;
  readonly username: string;
  readonly email: string | null;
};

export type SummarizedPipeline = PipelineSummary & {
  readonly recentRuns: readonly RunBrief[];
  readonly triggerCount: number;
};

/** `author`: who saved this version, or adopted it since; null where that is unknown. */
export type SavedPipeline = PipelineWithYaml & { readonly projectName: string; readonly author: Author | null };

/** A project that may or may not be named; what is named has to fit. */
export type MaybeInProject = {
  readonly orgIdentifier?: string | undefined;
  readonly projectIdentifier?: string | undefined;
};

export type InProject = { readonly orgIdentifier: string; readonly projectIdentifier: string };

/** The scope without what else the value has. */
export const placeOf = ({ orgIdentifier, projectIdentifier }: InProject): InProject => ({
  orgIdentifier,
  projectIdentifier,
});
