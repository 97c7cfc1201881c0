import { executionList } from "../../api/operations.gen.ts";
import type { CopiedQuery, CopiedRequest } from "../../components/copy-as.tsx";

/** Requests for the example of the menu. */
export const copiedSamples: { readonly requests: readonly CopiedRequest[]; readonly queries: readonly CopiedQuery[] } =
  {
    requests: [
      {
        label: "List executions",
        operation: executionList,
        query: { orgIdentifier: "default", projectIdentifier: "shop", size: 20 },
        body: { filterType: "PipelineExecution", status: ["Failed"] },
      },
    ],
    queries: [{ label: "Type names", query: "query Types { __schema { types { name } } }" }],
  };
