import { Link } from "../ui/link.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { useTitle } from "../util/use-title.ts";

export function PageNotFound({ reason }: { readonly reason?: string }) {
  useTitle("Not found");
  return (
    <>
      <PageHeader title="There is no such page" />
      <p>
        {reason ??
          "The address may be wrong, or what it names was deleted. You may also lack the permission to see it."}
      </p>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </>
  );
}
