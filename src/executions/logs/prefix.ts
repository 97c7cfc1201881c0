/**
 * The prefix by which clients of the log service name a log, in one of two forms:
 * `{account}/pipeline/{pipeline}/{runSequence}/-{planExecutionId}`, and
 * `accountId:X/orgId:X/projectId:X/pipelineId:X/runSequence:N[/level0:pipeline/level1:stages/level2:build/…]`.
 */
export type LogPrefix =
  | { readonly by: "id"; readonly account: string; readonly executionId: string }
  | {
      readonly by: "sequence";
      readonly account: string;
      readonly orgIdentifier: string;
      readonly projectIdentifier: string;
      readonly pipelineIdentifier: string;
      readonly runSequence: number;
      /** A path of the plan: the log is narrowed to it. */
      readonly within: readonly string[];
    };

const SIMPLE = /^([^/]+)\/pipeline\/[^/]+\/\d+\/-([\w-]{22})(?:\/.*)?$/;
const KEYS = ["accountId", "orgId", "projectId", "pipelineId", "runSequence"] as const;
const MAX_SEQUENCE = 2_147_483_647;

/** Undefined for a text in neither form. */
export function readLogPrefix(text: string): LogPrefix | undefined {
  const [, account, executionId] = SIMPLE.exec(text) ?? [];
  if (account !== undefined && executionId !== undefined) return { by: "id", account, executionId };
  const parts = text.split("/").map((part) => {
    const colon = part.indexOf(":");
    return [part.slice(0, colon), part.slice(colon + 1)] as const;
  });
  if (!KEYS.every((key, at) => parts[at]?.[0] === key)) return undefined;
  const levels = parts.slice(KEYS.length);
  if (!levels.every(([key, value], at) => key === `level${at}` && value !== "")) return undefined;
  const [own = "", org = "", project = "", pipeline = "", sequence = ""] = parts.map(([, value]) => value);
  if (!/^\d{1,10}$/.test(sequence) || Number(sequence) > MAX_SEQUENCE) return undefined;
  return {
    by: "sequence",
    account: own,
    orgIdentifier: org,
    projectIdentifier: project,
    pipelineIdentifier: pipeline,
    runSequence: Number(sequence),
    within: levels.map(([, value]) => value),
  };
}
