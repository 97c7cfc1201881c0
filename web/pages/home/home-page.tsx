import { PageHeader } from "../../ui/page-header.tsx";
import { useTitle } from "../../util/use-title.ts";

/** What happens in all projects that the user may see. */
export function HomePage() {
  useTitle("Overview");
  return <PageHeader title="Overview" />;
}
