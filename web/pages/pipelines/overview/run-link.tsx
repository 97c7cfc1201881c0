import type { ReactNode } from "react";
import { Link } from "../../../ui/link.tsx";

type RunLinkProps = {
  readonly params: { readonly org: string; readonly project: string };
  readonly execution: string;
  readonly children: ReactNode;
};

/** A link to the page of an execution. */
export function RunLink({ params, execution, children }: RunLinkProps) {
  const path: string = `/projects/${params.org}/${params.project}/executions/${execution}`;
  return (
    <Link look="quiet" to={path}>
      {children}
    </Link>
  );
}
