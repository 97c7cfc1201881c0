/** What the load consists of: kinds of pipelines, their steps, and how each ends without interference. */
import type { PipelineDocument } from "../../support/clients/pipeline.ts";

export const MASK = "**************";
/** The shortest timeout that a pipeline may have. */
export const TIMEOUT_SECONDS = 10;

const PLAIN = ["outputs", "long", "rollback", "timeout", "abort", "escape", "secret", "hook", "slots"] as const;
const FLOWS = ["flow", "cut", "regroup", "ask", "decide", "pause", "undo", "overdue", "lock", "chain"] as const;
export type PlainKind = (typeof PLAIN)[number];
export type FlowKind = (typeof FLOWS)[number];
export type Kind = PlainKind | FlowKind;

/** The end of an execution or a step without interference. */
export type EndStatus = "succeeded" | "failed" | "expired" | "aborted" | "skipped" | "ignored" | "rejected";

export type StepPlan = {
  /**
   * That of the instance: `cell[2]` for the third of a loop, `part` below the second of a group `inner[1]/part`, `flaky#2`
   * for a second attempt. Groups that are retried have several instances with one identifier.
   */
  readonly identifier: string;
  readonly script: string;
  readonly timeout?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly outputs?: readonly string[];
  readonly selectors?: readonly string[];
  /** The complete output. */
  readonly text: (number: number) => string;
  /** The ends of the step without interference; "aborted" for a step that a client aborts. */
  readonly ends: EndStatus | readonly EndStatus[];
  /** The server runs it: it has no output and records no start. */
  readonly isServed?: boolean;
  /** An execution that has succeeded has had it. */
  readonly isRequired?: boolean;
  /** It starts at least this number of seconds after the start of another step. */
  readonly after?: { readonly identifier: string; readonly seconds: number };
};

export type KindPlan = {
  readonly steps: readonly StepPlan[];
  readonly rollback: readonly StepPlan[];
  readonly ends: EndStatus | readonly EndStatus[];
  /** Of a kind whose stages are more than one stage with these steps. */
  readonly stages?: readonly object[];
  /** A pipeline that its stages run. */
  readonly chained?: PipelineDocument;
  /** What clients do to it. */
  readonly client?: "abort" | "pause" | "decide" | "approve";
};

export type Kinds = Readonly<Record<Kind, KindPlan>>;

export type Places = {
  /** File with a line `number step time` for each start of a step. */
  readonly starts: string;
  /** Folder in which processes that outlive their step extend `alive-<number>-<way>` while `go-<number>` exists. */
  readonly escapes: string;
  /** Steps of the kind `slots` wait until this file exists. */
  readonly barrier: string;
};

export const endsOf = ({ ends }: Pick<StepPlan, "ends">): readonly EndStatus[] =>
  typeof ends === "string" ? [ends] : ends;

export const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n + 1)}\n`).join("");

/** A script that records its start. `step` may hold variables of the shell. */
export const recordedScript = (starts: string, step: string, ...body: readonly string[]): string =>
  // The shell's messages about killed children are not part of the expected text.
  [`exec 2>/dev/null`, `echo "$NUMBER ${step} $EPOCHREALTIME" >> ${starts}`, ...body].join("\n");

export const named = (identifier: string): object => ({ name: identifier, identifier });

/** The step of a document. `fields` are those beside its type, name, identifier, timeout and spec. */
export const shellStep = (plan: StepPlan, number: string, fields: object = {}): object => ({
  step: {
    type: "ShellScript",
    ...named(plan.identifier.replace(/^.*\//, "").replace(/[[#].*/, "")),
    timeout: plan.timeout ?? "10m",
    ...fields,
    spec: {
      shell: "Bash",
      onDelegate: true,
      source: { type: "Inline", spec: { script: plan.script } },
      environmentVariables: Object.entries({ NUMBER: number, ...plan.env }).map(([name, value]) => ({
        name,
        type: "String",
        value,
      })),
      outputVariables: (plan.outputs ?? []).map((name) => ({ name, type: "String", value: name })),
      delegateSelectors: plan.selectors ?? ["chaos"],
    },
  },
});
