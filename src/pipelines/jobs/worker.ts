/** Runs the jobs on large documents in a thread of its own. */
import { answerMessages } from "../../platform/workers/outcome.ts";
import { PIPELINE_LIMITS } from "../document/limits.ts";
import { type JobOptions, jobs } from "./jobs.ts";
import type { JobMessage } from "./run-job.ts";

type Run = (asked: unknown, options: JobOptions) => unknown;

answerMessages((message) => {
  const { name, asked } = message as JobMessage;
  return (jobs[name] as Run)(asked, { limits: PIPELINE_LIMITS });
});
