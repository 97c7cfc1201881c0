import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { settingCheckScimJwt, settingList, settingUpdate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { SettingsTabs } from "../settings-tabs.tsx";
import { CheckResult } from "./check-result.tsx";
import { ProviderFacts } from "./provider-facts.tsx";
import styles from "./scim-page.module.css";
import { useScimSettings } from "./scim-settings.ts";
import { TokenSettings } from "./token-settings.tsx";
import { VerifyToken } from "./verify-token.tsx";

/** Sets up SCIM for an identity provider that signs its own tokens, in the order in which it has to be done. */
export function ScimPage() {
  useTitle("SCIM", "Settings");
  const may = useMay({});
  const settings = useScimSettings();
  const check = useQuery(dataQuery(settingCheckScimJwt, { body: {} }));
  const error = settings.list.error ?? check.error;
  return (
    <>
      <PageHeader
        title="SCIM"
        meta="A directory such as Okta or Entra creates, changes and deactivates users and groups here."
        actions={
          <CopyAs
            requests={[
              { label: "List the settings", operation: settingList, query: { category: "CORE", group: "scim" } },
              { label: "Check the settings", operation: settingCheckScimJwt, body: {} },
            ]}
          />
        }
        tabs={<SettingsTabs />}
      />
      {error !== null && (
        <ErrorState
          title="The settings for SCIM could not be loaded"
          message={messageOf(error)}
          onRetry={() => void Promise.all([settings.list.refetch(), check.refetch()])}
        />
      )}
      {error === null && settings.list.data === undefined && <SkeletonLines lines={8} />}
      {error === null && settings.list.data !== undefined && (
        <div className={styles.page}>
          <TokenSettings settings={settings} mayEdit={may(settingUpdate)} />
          <CheckResult check={check.data} isChecking={check.isFetching} onCheck={() => void check.refetch()} />
          <ProviderFacts />
          <VerifyToken isComplete={check.data?.missingSettings.length === 0} />
        </div>
      )}
    </>
  );
}
