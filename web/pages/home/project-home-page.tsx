import { projectRoute } from "../../routes/project-route.ts";
import { PageHeader } from "../../ui/page-header.tsx";
import { useTitle } from "../../util/use-title.ts";

/** What happens in one project. */
export function ProjectHomePage() {
  const { project } = projectRoute.useLoaderData();
  useTitle("Overview", project.name);
  return <PageHeader title={project.name} />;
}
