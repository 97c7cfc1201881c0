/** Where a document says what a stage runs, for the faults of chained pipelines. */
import { Problem, type Fault } from "../../core/problem.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import type { ChainSpec } from "../document/chain.ts";
import { chainOf, type PipelineDocument } from "../document/schema.ts";
import { type StageNode, stagesIn } from "../document/visit.ts";
import type { WrittenAt } from "../places.ts";

/** A stage that runs a pipeline. */
export type Chain = { readonly stage: StageNode; readonly spec: ChainSpec };

export const chainsIn = (document: PipelineDocument): readonly Chain[] =>
  stagesIn(document).flatMap((stage) => {
    const spec = chainOf(stage.document);
    return spec ? [{ stage, spec }] : [];
  });

/** Looking a place up takes as long as the lists around it. Beyond them a fault has no line and column. */
const MAX_PLACES = 2_000;

/** The places that faults of chained pipelines can have in the document. */
export const chainPaths = (document: PipelineDocument): readonly Path[] => allPaths(document).slice(0, MAX_PLACES);

/** Those of the pipelines that the stages name. */
export const chainedPipelinePaths = (document: PipelineDocument): readonly Path[] =>
  chainsIn(document)
    .slice(0, MAX_PLACES)
    .map((chain) => pathOf(chain));

const allPaths = (document: PipelineDocument): readonly Path[] =>
  chainsIn(document).flatMap(({ stage, spec }) => {
    const { inputs, inputSetReferences } = spec;
    const all = pathsIn({ inputs: inputs ?? {}, inputSetReferences: inputSetReferences ?? [] }, [
      ...stage.path,
      "spec",
    ]);
    return [[...stage.path, "spec", "pipeline"], ...all];
  });

function pathsIn(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, item]) => pathsIn(item, [...path, key]))];
}

/** Where the stage names its pipeline, or a field beside it. */
const pathOf = ({ stage }: Chain, below: Path = ["pipeline"]): Path => [...stage.path, "spec", ...below];

/** A fault at a place of the stage, with line and column. */
export function faultAt(chain: Chain, at: WrittenAt, message: string, below?: Path): Fault {
  const path = pathOf(chain, below);
  const { inInputs, ...position } = at(path);
  return {
    path: pathText(path),
    message: inInputs ? `${message} (given by the inputs of the run)` : message,
    ...position,
  };
}

/** The error with the place of the stage: faults of the pipeline that it runs have their places in another document. */
export function placedAt(chain: Chain, at: WrittenAt, error: unknown): unknown {
  if (!(error instanceof Problem) || error.status >= 500) return error;
  const { code, status, wire, cause, refusal } = error;
  const { identifier } = chain.stage.document;
  const message = `Stage '${identifier}' cannot run pipeline '${chain.spec.pipeline}': ${error.message}`;
  const faults = error.faults.map((fault) =>
    faultAt(chain, at, `${fault.path}: ${fault.message}`, givenPath(chain, fault.path)),
  );
  const own = faults.length > 0 ? faults : [faultAt(chain, at, error.message)];
  return new Problem(code, status, wire, message, { faults: status === 403 ? faults : own, cause, refusal });
}

/** Where the inputs of the stage give a value; the pipeline itself where they do not. */
function givenPath({ spec }: Chain, text: string): Path | undefined {
  const [root, ...path] = text.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const parts = path.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  let value: unknown = spec.inputs;
  for (const part of parts) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return root === "pipeline" && parts.length > 0 && value !== undefined ? ["inputs", ...parts] : undefined;
}
