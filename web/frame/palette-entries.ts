import { fetchData } from "../api/client.ts";
import { executionList, pipelineList } from "../api/operations.gen.ts";
import { mayOnSome, permissionsQuery, type Scope } from "../api/permissions.ts";
import { queryClient } from "../api/query-client.ts";
import { projectPath, type ProjectKey } from "../api/recent-project.ts";
import type { IconName } from "../ui/icon.tsx";
import {
  ACCOUNT_NAVIGATION,
  FURTHER_ACCOUNT_PAGES,
  FURTHER_PROJECT_PAGES,
  PROJECT_NAVIGATION,
  visibleGroups,
  type NavigationGroup,
} from "./navigation.ts";

export type PaletteEntry = {
  readonly label: string;
  readonly detail: string;
  readonly icon: IconName;
  readonly to: string;
};

const SHOWN = 8;

/** The pages that the user may open: those of the sidebar in its order, and then the others. */
export async function findPages(current: ProjectKey | undefined): Promise<readonly PaletteEntry[]> {
  const ofProject = (groups: readonly NavigationGroup[]) =>
    current === undefined ? [] : pagesOf(groups, projectPath(current), scopeOf(current));
  const found = await Promise.all([
    ofProject(PROJECT_NAVIGATION),
    pagesOf(ACCOUNT_NAVIGATION, "", {}),
    ofProject(FURTHER_PROJECT_PAGES),
    pagesOf(FURTHER_ACCOUNT_PAGES, "", {}),
  ]);
  return found.flat();
}

/** Those of the entries whose names contain the words; few, so that what the API finds is in sight. */
export function matching(pages: readonly PaletteEntry[], words: string): readonly PaletteEntry[] {
  if (words === "") return pages;
  return pages.filter(({ label }) => label.toLowerCase().includes(words.toLowerCase())).slice(0, SHOWN);
}

const scopeOf = ({ org, project }: ProjectKey): Required<Scope> => ({ orgIdentifier: org, projectIdentifier: project });

async function pagesOf(
  groups: readonly NavigationGroup[],
  base: string,
  scope: Scope,
): Promise<readonly PaletteEntry[]> {
  const [permitted, ofAccount] = await Promise.all([
    queryClient.query(permissionsQuery(scope)),
    queryClient.query(permissionsQuery({})),
  ]);
  return visibleGroups(groups, mayOnSome(permitted), mayOnSome(ofAccount)).flatMap(({ label, items }) =>
    items.map((item) => ({
      label: item.label,
      detail: base === "" ? label : (scope.projectIdentifier ?? label),
      icon: item.icon,
      to: base === "" ? item.path : item.path === "" ? base : `${base}/${item.path}`,
    })),
  );
}

/** Pipelines and executions that the API finds by these words. */
export async function searchProject(
  current: ProjectKey,
  words: string,
  signal: AbortSignal,
): Promise<readonly PaletteEntry[]> {
  const query = { ...scopeOf(current), size: SHOWN, searchTerm: words };
  const base = projectPath(current);
  const [pipelines, executions] = await Promise.all([
    fetchData(pipelineList, { query }, { signal }).catch(() => undefined),
    fetchData(executionList, { query }, { signal }).catch(() => undefined),
  ]);
  return [
    ...(pipelines?.content ?? []).map(({ name, identifier }) => ({
      label: name,
      detail: `Pipeline ${identifier}`,
      icon: "pipeline" as const,
      to: `${base}/pipelines/${encodeURIComponent(identifier)}`,
    })),
    ...(executions?.content ?? []).map(({ name, runSequence, status, planExecutionId }) => ({
      label: `${name} #${runSequence}`,
      detail: `Execution, ${status}`,
      icon: "activity" as const,
      to: `${base}/executions/${planExecutionId}`,
    })),
  ];
}
