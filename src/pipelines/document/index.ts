/** The pipeline language: what a definition may say, checked and typed. */
export { readPipeline, type ReadOptions } from "./read.ts";
export { pipelineSchema, type PipelineDocument } from "./schema.ts";
