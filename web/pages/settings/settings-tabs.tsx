import { settingCheckScimJwt, smtpConfigGet } from "../../api/operations.gen.ts";
import { useMay } from "../../api/permissions.ts";
import { LinkTabs, TabLink } from "../../ui/tabs.tsx";

/** The pages of the account's settings. */
export function SettingsTabs() {
  const may = useMay({});
  return (
    <LinkTabs label="Settings">
      <TabLink to="/account/settings" activeOptions={{ exact: true }}>
        General
      </TabLink>
      {may(smtpConfigGet) && <TabLink to="/account/settings/mail">Mail</TabLink>}
      {may(settingCheckScimJwt) && <TabLink to="/account/settings/scim">SCIM</TabLink>}
    </LinkTabs>
  );
}
