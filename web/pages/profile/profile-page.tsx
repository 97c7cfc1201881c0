import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { apiKeyAggregates, identityListOwn, sessionList } from "../../api/operations.gen.ts";
import { currentSession } from "../../api/session.ts";
import { CopyAs } from "../../components/copy-as.tsx";
import { ApiKeys } from "../../components/tokens/api-keys.tsx";
import { Name } from "../../ui/name.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTitle } from "../../util/use-title.ts";
import { Identities } from "./identities.tsx";
import { ChangePassword } from "./change-password.tsx";
import { Sessions } from "./sessions.tsx";

const route = getRouteApi("/profile");

/** What users keep of their own: keys, password, sessions and identities. */
export function ProfilePage() {
  const { user } = currentSession();
  const { tab } = route.useSearch();
  const navigate = useNavigate();
  useTitle("Profile");
  return (
    <>
      <PageHeader
        title={<Name>{user.name}</Name>}
        meta={user.email}
        actions={
          <CopyAs
            requests={[
              { label: "List API keys", operation: apiKeyAggregates, query: { apiKeyType: "USER" } },
              { label: "List sessions", operation: sessionList },
              { label: "List linked identities", operation: identityListOwn },
            ]}
          />
        }
      />
      <Tabs
        label="Profile"
        selected={tab ?? "keys"}
        onChange={(id) => void navigate({ to: "/profile", search: id === "keys" ? {} : { tab: id } })}
        tabs={[
          { id: "keys", label: "API keys", content: <ApiKeys owner={{ apiKeyType: "USER" }} canChange /> },
          { id: "password", label: "Password", content: <ChangePassword /> },
          { id: "sessions", label: "Sessions", content: <Sessions /> },
          { id: "identities", label: "Linked identities", content: <Identities /> },
        ]}
      />
    </>
  );
}
