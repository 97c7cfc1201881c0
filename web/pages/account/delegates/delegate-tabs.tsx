import { LinkTabs, TabLink } from "../../../ui/tabs.tsx";

export function DelegateTabs() {
  return (
    <LinkTabs label="Delegates">
      <TabLink to="/account/delegates" activeOptions={{ exact: true, includeSearch: false }}>
        Delegates
      </TabLink>
      <TabLink to="/account/delegates/tokens">Tokens</TabLink>
    </LinkTabs>
  );
}
