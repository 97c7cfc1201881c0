import type { DataOf } from "../../api/client.ts";
import type { tokenAggregates } from "../../api/operations.gen.ts";

export type TokenRow = DataOf<typeof tokenAggregates>["content"][number];
