import { useParams } from "@tanstack/react-router";
import type { Scope } from "../api/permissions.ts";

/** The project of the page, as the API takes it in a query. Throws on pages outside of projects. */
export function useProjectScope(): Required<Scope> {
  const { org, project } = useParams({ strict: false });
  if (org === undefined || project === undefined) throw new Error("This page does not belong to a project.");
  return { orgIdentifier: org, projectIdentifier: project };
}

/** The project of the page, the organization, or the account. */
export function usePageScope(): Scope {
  const { org, project } = useParams({ strict: false });
  if (org === undefined) return {};
  return project === undefined ? { orgIdentifier: org } : { orgIdentifier: org, projectIdentifier: project };
}
