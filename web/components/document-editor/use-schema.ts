import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Extension } from "@codemirror/state";
import { dataQuery } from "../../api/client.ts";
import { yamlSchemaGet } from "../../api/operations.gen.ts";
import { schemaHelp } from "./schema-help.ts";
import type { Schema } from "./schema-lookup.ts";

/** Completion and hover help for documents of this kind. The schema changes with the release only. */
export function useSchemaHelp(entityType: "Pipelines" | "InputSets" | "OverlayInputSets" | "Triggers"): Extension {
  const { data } = useQuery({
    ...dataQuery(yamlSchemaGet, { query: { entityType } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const schema = useRef<Schema>(undefined);
  useEffect(() => {
    schema.current = data;
  }, [data]);
  const [extension] = useState(() => schemaHelp(() => schema.current));
  return extension;
}
