/** What an entry of the audit trail says about the place of its resource. */
type Audited = {
  readonly resource: { readonly type: string; readonly identifier: string };
  readonly resourceScope: { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };
};

const PAGES: Readonly<Record<string, string>> = {
  CONNECTOR: "connectors",
  ENVIRONMENT: "environments",
  SECRET: "secrets",
  SERVICE: "services",
};

/** The page on which the resource is, if it still exists. */
export function pathOf({ resource: { type, identifier }, resourceScope: at }: Audited): PagePath | undefined {
  const { orgIdentifier: org, projectIdentifier: project } = at;
  const id = encodeURIComponent(identifier);
  const base = org === null || project === null ? undefined : `/projects/${org}/${project}`;
  if (type === "PROJECT" && org !== null) return { path: `/projects/${org}/${id}` };
  if (type === "PIPELINE" && base !== undefined) {
    // Entries of triggers name the pipeline, too.
    const [pipeline = "", trigger] = identifier.split("/").map((part) => encodeURIComponent(part));
    return {
      path: trigger === undefined ? `${base}/pipelines/${pipeline}` : `${base}/triggers/${pipeline}/${trigger}`,
    };
  }
  if (type === "PIPELINE_EXECUTION" && base !== undefined) return { path: `${base}/executions/${id}` };
  const page = PAGES[type];
  if (page === undefined || (org !== null && project === null)) return undefined;
  return { path: `${base ?? "/account"}/${page}`, search: { q: identifier } };
}

type PagePath = { readonly path: string; readonly search?: Readonly<Record<string, string>> };
