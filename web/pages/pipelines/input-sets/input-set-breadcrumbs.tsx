import type { ReactNode } from "react";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import type { PipelineKey } from "../shared/pipeline-key.ts";

/** Links to the pages above that of an input set. */
export const inputSetBreadcrumbs = ({ identifier, params }: PipelineKey): readonly ReactNode[] => [
  <Link key="list" to="/projects/$org/$project/pipelines" params={params}>
    Pipelines
  </Link>,
  <Link key="page" to="/projects/$org/$project/pipelines/$pipeline" params={params}>
    <Name>{identifier}</Name>
  </Link>,
  <Link key="sets" to="/projects/$org/$project/pipelines/$pipeline/input-sets" params={params}>
    Input sets
  </Link>,
];
