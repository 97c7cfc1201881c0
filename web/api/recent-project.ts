const KEY = "railhead.project";

export type ProjectKey = { readonly org: string; readonly project: string };

/** The project that this browser showed last. The sidebar keeps showing it on pages of the account. */
export function recentProject(): ProjectKey | undefined {
  const [org, project] = (localStorage.getItem(KEY) ?? "").split("/");
  return org && project ? { org, project } : undefined;
}

export const rememberProject = ({ org, project }: ProjectKey): void => localStorage.setItem(KEY, `${org}/${project}`);

/** The address of the project's overview, below which all its pages are. */
export const projectPath = ({ org, project }: ProjectKey): string =>
  `/projects/${encodeURIComponent(org)}/${encodeURIComponent(project)}`;
