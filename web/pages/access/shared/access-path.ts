import { useParams } from "@tanstack/react-router";

/** The address of the access pages of an organization, or of the account. */
export const accessPathOf = (org: string | undefined): string =>
  org === undefined ? "/account/access" : `/account/organizations/${encodeURIComponent(org)}/access`;

/** The address of the access pages in the scope of this page. */
export function useAccessPath(): string {
  const { org, project } = useParams({ strict: false });
  return org !== undefined && project !== undefined
    ? `/projects/${encodeURIComponent(org)}/${encodeURIComponent(project)}/access`
    : accessPathOf(org);
}
