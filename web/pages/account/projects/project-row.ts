import type { DataOf } from "../../../api/client.ts";
import type { projectList } from "../../../api/operations.gen.ts";

export type ProjectRow = DataOf<typeof projectList>["content"][number];
