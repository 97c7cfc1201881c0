import { PageHeader } from "../../../ui/page-header.tsx";
import { useTitle } from "../../../util/use-title.ts";

export function ProjectsPage() {
  useTitle("Projects");
  return <PageHeader title="Projects" />;
}
