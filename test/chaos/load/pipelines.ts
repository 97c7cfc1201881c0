/**
 * The pipelines of the load and the expected output of their steps. Every execution has a number, which is in each line
 * of its log. Each step records its start in a file outside of the platform, so that a second start is detected.
 */
import { pipeline, stage, type PipelineDocument } from "../../support/clients/pipeline.ts";
import { createFlows, NUMBER } from "./flows.ts";
import {
  type EndStatus,
  type KindPlan,
  type Kinds,
  lines,
  MASK,
  type Places,
  recordedScript,
  shellStep,
  type StepPlan,
  TIMEOUT_SECONDS,
} from "./kinds.ts";

export const SECRET_NAME = "chaos_token";
export const SECRET_VALUE = "chaos-5ecret-vAlue/92417";

/** Computes the number to which the script sets `count`. */
const countOf = (number: number): number => 200 + ((number * 37) % 1_500);
const COUNT = "count=$((200 + (NUMBER * 37) % 1500))";
const PARTS = 6;
const ABORTED_SECONDS = 25;
/** Longer than the database or all servers can be stopped: only a server ends a step at its timeout. */
const OVERDUE_SECONDS = 300;

export function createKinds(places: Places): Kinds {
  const { starts, escapes, barrier } = places;
  const script = (step: string, ...body: readonly string[]): string => recordedScript(starts, step, ...body);

  const first: StepPlan = {
    identifier: "one",
    script: script(
      "one",
      'for i in {1..40}; do echo "run $NUMBER one line $i"; done',
      'answer="answer $NUMBER"',
      `extra=$'two\\nlines '"$NUMBER"`,
    ),
    outputs: ["answer", "extra"],
    text: (number) => lines(40, (n) => `run ${number} one line ${n}`),
    ends: "succeeded",
  };
  const outputs = "<+execution.steps.one.output.outputVariables.";
  const second: StepPlan = {
    identifier: "two",
    script: script("two", `echo "run $NUMBER got $ANSWER"`, `printf '%s, no line end' "$EXTRA"`),
    env: { ANSWER: `${outputs}answer>`, EXTRA: `${outputs}extra>` },
    text: (number) => `run ${number} got answer ${number}\ntwo\nlines ${number}, no line end`,
    ends: "succeeded",
  };
  const third: StepPlan = {
    identifier: "three",
    script: script("three", 'sleep 0.3; echo "run $NUMBER three"'),
    text: (number) => `run ${number} three\n`,
    ends: "succeeded",
  };
  const long: StepPlan = {
    identifier: "long",
    script: script(
      "long",
      COUNT,
      `for part in {1..${PARTS}}; do`,
      `  for ((i = 1; i <= count; i++)); do echo "run $NUMBER part $part line $i"; done`,
      "  sleep 0.5",
      "done",
    ),
    text: (number) =>
      Array.from({ length: PARTS }, (_, part) =>
        lines(countOf(number), (n) => `run ${number} part ${part + 1} line ${n}`),
      ).join(""),
    ends: "succeeded",
  };
  const fails: StepPlan = {
    identifier: "one",
    script: script("one", 'for i in {1..10}; do echo "run $NUMBER before $i"; done', "exit 7"),
    text: (number) => lines(10, (n) => `run ${number} before ${n}`),
    ends: "failed",
  };
  const undo: StepPlan = {
    identifier: "undo",
    script: script("undo", 'for i in {1..10}; do echo "run $NUMBER undone $i"; done'),
    text: (number) => lines(10, (n) => `run ${number} undone ${n}`),
    ends: "succeeded",
  };
  const ticking = (seconds: number): string =>
    `for ((i = 1; i <= ${seconds * 5}; i++)); do echo "run $NUMBER tick $i"; sleep 0.2; done`;
  const ticks = (seconds: number) => (number: number) => lines(seconds * 5, (n) => `run ${number} tick ${n}`);
  const overdue: StepPlan = {
    identifier: "overdue",
    script: script("overdue", ticking(OVERDUE_SECONDS)),
    timeout: `${TIMEOUT_SECONDS}s`,
    text: ticks(OVERDUE_SECONDS),
    ends: "expired",
  };
  const unwanted: StepPlan = {
    identifier: "unwanted",
    script: script("unwanted", ticking(ABORTED_SECONDS)),
    text: ticks(ABORTED_SECONDS),
    ends: "aborted",
  };
  const escaping: StepPlan = {
    identifier: "escape",
    script: script("escape", ...escapeScript(escapes), 'echo "run $NUMBER left some behind"'),
    text: (number) => `run ${number} left some behind\n`,
    ends: "succeeded",
  };
  const secret: StepPlan = {
    identifier: "secret",
    script: script(
      "secret",
      'for i in {1..20}; do echo "run $NUMBER $i $TOKEN"; done',
      'echo "run $NUMBER file $(cat "$TOKEN_FILE") end"',
      "sleep 0.5",
      'echo "run $NUMBER base64 $(printf %s "$TOKEN" | base64) end"',
    ),
    env: {
      TOKEN: `<+secrets.getValue("account.${SECRET_NAME}")>`,
      TOKEN_FILE: `<+secrets.getAsFile("account.${SECRET_NAME}")>`,
    },
    text: (number) =>
      `${lines(20, (n) => `run ${number} ${n} ${MASK}`)}run ${number} file ${MASK} end\nrun ${number} base64 ${MASK} end\n`,
    ends: "succeeded",
  };
  const slot: StepPlan = {
    identifier: "slot",
    script: script("slot", `until [ -e ${barrier} ]; do sleep 0.1; done`, 'echo "run $NUMBER through"'),
    text: (number) => `run ${number} through\n`,
    ends: "succeeded",
  };

  const kind = (ends: EndStatus, steps: readonly StepPlan[], rollback: readonly StepPlan[] = []): KindPlan => ({
    steps,
    rollback,
    ends,
  });
  return {
    outputs: kind("succeeded", [first, second, third]),
    long: kind("succeeded", [long, third]),
    rollback: kind("failed", [fails, third], [undo]),
    // The rollback of a stage turns every cause into a failure.
    timeout: kind("failed", [overdue, third]),
    abort: { ...kind("aborted", [unwanted, third]), client: "abort" },
    escape: kind("succeeded", [escaping, third]),
    secret: kind("succeeded", [secret, third]),
    hook: kind("succeeded", [first, second]),
    slots: kind("succeeded", [slot]),
    ...createFlows(places),
  };
}

/**
 * Starts processes that run until `go-<number>` is removed, also after their step has ended. A chain starts a hundred
 * processes a second.
 */
function escapeScript(escapes: string): readonly string[] {
  const loop = (way: string): string =>
    `while [ -e ${escapes}/go-$NUMBER ]; do echo >> ${escapes}/alive-$NUMBER-${way}; sleep 0.2; done`;
  return [
    `go=${escapes}/go-$NUMBER; : > $go; chmod 666 $go`,
    // A new session.
    `setsid bash -c '${loop("session")}' < /dev/null > /dev/null 2>&1 &`,
    // The parent ends at once, so that init adopts the process. It keeps the output open.
    `( ( ${loop("orphan")} ) & )`,
    // A process without the variables that identify the step.
    `env -i PATH="$PATH" NUMBER="$NUMBER" setsid bash -c '${loop("no-environment")}' < /dev/null > /dev/null 2>&1 &`,
    // Each process lives for a hundredth of a second.
    `chain() { [ -e ${escapes}/go-$NUMBER ] || exit; echo >> ${escapes}/alive-$NUMBER-chain; sleep 0.01; chain & exit; }`,
    `( chain ) < /dev/null > /dev/null 2>&1 &`,
    // Ignores SIGTERM.
    `( trap "" TERM; ${loop("deaf")} ) > /dev/null 2>&1 &`,
    "sleep 0.5",
  ];
}

/** Returns the document of a kind. Webhooks carry their number in the payload, other starts in an input. */
export function documentOf(
  identifier: string,
  { steps, rollback, stages }: KindPlan,
  fromWebhook: boolean,
): PipelineDocument {
  const number = fromWebhook ? "<+trigger.payload.number>" : NUMBER;
  const stepOf = (plan: StepPlan): object => shellStep(plan, number);
  const made = pipeline(identifier, stages ?? [stage("only", steps.map(stepOf), rollback.map(stepOf))]);
  const variables = [{ name: "number", type: "String", value: "<+input>" }];
  return fromWebhook ? made : { pipeline: { ...made.pipeline, variables } };
}
