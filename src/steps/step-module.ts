import type { z } from "zod";
import type { Json, OutputAlias, SecretsHome, StepType, WorkTemplate } from "../engine/index.ts";
import type { Phase } from "./schema/fields.ts";
import type { ValueField } from "./value-field.ts";

/** What the plan of a step takes from what the step stands in. */
export type PlanContext = {
  /** Names the step in messages. */
  readonly identifier: string;
  /** Where the step stands that asks for secrets. */
  readonly home: SecretsHome;
  /** The infrastructure of its stage is a cluster. */
  readonly hasCluster: boolean;
  /** The text with each variable of the type Secret replaced by an expression that asks for its secret. */
  readonly withSecrets: (text: string) => string;
};

/** A step to begin with. */
export type Snippet = {
  readonly name: string;
  /** Valid as it is. */
  readonly spec: object;
  /** Fields that the pipeline needs for it. */
  readonly pipeline?: object;
};

/**
 * A step type: everything that is particular to it. `Spec` is what its schema reads, of a document without runtime inputs
 * where it is planned.
 */
export type StepModule<Spec = unknown> = {
  /** As documents have it. */
  readonly type: string;
  /** What it does, for people who choose a step. */
  readonly description: string;
  readonly snippet: Snippet;
  /** What `spec` may say. Each field has a description, which the language reference shows. */
  readonly schema: (phase: Phase) => z.ZodType<Spec>;
  /** The places of `spec` that hold expressions or references. */
  readonly valueFields: (spec: Spec) => readonly ValueField[];
  /** What expressions see of `spec`: nothing of it says which secrets are used. */
  readonly shown: (spec: Spec) => { readonly [key: string]: Json };
  /** Tags of the delegates that may run it; the stage's or the pipeline's where there are none. */
  readonly delegateSelectors: (spec: Spec) => readonly string[] | string | null | undefined;
  /** Under which name other steps read its outputs. */
  readonly outputAlias?: (spec: Spec) => OutputAlias | undefined;
  /** The names of its output variables. */
  readonly outputNames?: (spec: Spec) => readonly string[];
  /** Those of them whose value is a secret. */
  readonly secretOutputs?: (spec: Spec) => readonly string[];
  readonly plan: (spec: Spec, context: PlanContext) => WorkTemplate;
  /** How long a step may run that gives no timeout; ten minutes unless told. */
  readonly defaultTimeoutMs?: number;
  /** How the engine runs it. */
  readonly run: StepType;
};

/**
 * The module as the table has it. Its functions get only what its own schema has read: `type` and `spec` of a step are
 * checked together.
 */
export const stepModule = <Spec>(module: StepModule<Spec>): StepModule => module as unknown as StepModule;
