import { currentSession } from "../../api/session.ts";
import { PageHeader } from "../../ui/page-header.tsx";
import { useTitle } from "../../util/use-title.ts";

export function ProfilePage() {
  const { user } = currentSession();
  useTitle("Profile");
  return <PageHeader title={user.name} meta={user.email} />;
}
