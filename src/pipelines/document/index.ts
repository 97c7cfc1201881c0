/** The pipeline language: what a definition may say, checked and typed. */
export { parseDuration } from "./duration.ts";
export { type PipelineScope, readPipeline, type ReadPipeline } from "./read.ts";
export type { PipelineDocument } from "./schema.ts";
