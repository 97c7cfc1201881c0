import { type Path, pathText } from "../../platform/document/position/path.ts";
import { type DocumentNode, nodesIn, type PipelineNode } from "./visit.ts";

/** Finds the innermost node that a path leads into. */
export function createNodeFinder(root: PipelineNode): (path: Path) => DocumentNode {
  const byPath = new Map(nodesIn(root).map((node) => [pathText(node.path), node]));
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const node = byPath.get(pathText(path.slice(0, length)));
      if (node) return node;
    }
    return root;
  };
}
