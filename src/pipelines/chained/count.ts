import { pathText } from "../../platform/document/position/path.ts";
import { countNodes } from "../document/check-nodes.ts";
import { problem } from "../document/problems.ts";
import { visitPipeline } from "../document/visit.ts";
import type { RunPart } from "../run-part.ts";

/** Throws `pipeline.chain_refused` if the pipeline has too many nodes together with those that its stages run. */
export function requireFew(part: RunPart): void {
  if (part.chained.length === 0) return;
  const [fault] = count(part).faults;
  if (!fault) return;
  const faults = [{ path: pathText(fault.path), message: fault.message }];
  throw problem("pipeline.chain_refused", [fault.message], { faults });
}

const count = ({ filled, chained }: RunPart): ReturnType<typeof countNodes> => {
  const byStage = new Map(chained.map((part) => [part.stage.join("."), part]));
  return countNodes(visitPipeline(filled.document), ({ names }) => {
    const part = byStage.get(names.join("."));
    return part ? count(part).total : 0;
  });
};
