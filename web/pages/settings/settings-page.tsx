import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError, messageOf } from "../../api/api-error.ts";
import { settingList, settingUpdate } from "../../api/operations.gen.ts";
import { useMay, type Scope } from "../../api/permissions.ts";
import { CopyAs } from "../../components/copy-as.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Link } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { Notice } from "../../ui/notice.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useTitle } from "../../util/use-title.ts";
import { groupsOf, levelOf, type Level } from "./setting.ts";
import { SettingRow } from "./setting-row.tsx";
import styles from "./settings-page.module.css";
import { SettingsTabs } from "./settings-tabs.tsx";
import { CATEGORIES, changesOf, useSettings } from "./use-settings.ts";

/** The settings of the account, of an organization or of a project. */
export function SettingsPage() {
  const { org, project } = useParams({ strict: false });
  const scope: Scope = {
    ...(org !== undefined && { orgIdentifier: org }),
    ...(project !== undefined && { projectIdentifier: project }),
  };
  // Another scope begins without the changes of this one.
  return <SettingsOf key={`${org}/${project}`} scope={scope} />;
}

function SettingsOf({ scope }: { readonly scope: Scope }) {
  const level = levelOf(scope);
  const name = scope.projectIdentifier ?? scope.orgIdentifier;
  useTitle("Settings", ...(name === undefined ? [] : [name]));
  const mayEdit = useMay(scope)(settingUpdate);
  const settings = useSettings(scope);
  const { list, drafts, refusals, update } = settings;
  const show = useToast();
  const groups = groupsOf(list.data ?? []);
  const restore = (identifier: string): void =>
    update.mutate([{ identifier, updateType: "RESTORE" }], {
      onSuccess: ([outcome]) => {
        if (outcome?.updateStatus === true) show({ tone: "success", message: "The setting was restored." });
      },
    });
  return (
    <Page scope={scope} level={level} onSubmit={() => update.mutate(changesOf(drafts), { onSuccess: tell(show) })}>
      {list.isPending && <SkeletonLines lines={8} />}
      {list.error !== null && (
        <ErrorState
          title="The settings could not be loaded"
          message={messageOf(list.error)}
          correlationId={list.error instanceof ApiError ? list.error.correlationId : undefined}
          onRetry={() => void list.refetch()}
        />
      )}
      {list.data !== undefined && groups.length === 0 && (
        <EmptyState icon="settings" title="Nothing to set here">
          The settings of the account count.
        </EmptyState>
      )}
      {groups.map(({ id, title, description, settings: ofGroup }) => (
        <Card key={id} title={title} description={description} flush>
          <ul aria-label={title}>
            {ofGroup.map((setting) => (
              <SettingRow
                key={setting.identifier}
                setting={setting}
                level={level}
                mayEdit={mayEdit}
                draft={drafts.get(setting.identifier)}
                refusal={refusals.get(setting.identifier)}
                onEdit={(draft) => settings.edit(setting, draft)}
                onRestore={() => restore(setting.identifier)}
              />
            ))}
          </ul>
        </Card>
      ))}
      {update.error !== null && <Notice tone="failed">{messageOf(update.error)}</Notice>}
      {drafts.size > 0 && (
        <div className={styles.save} role="region" aria-label="Unsaved changes">
          <span>{drafts.size === 1 ? "1 setting is" : `${drafts.size} settings are`} changed and not saved.</span>
          <Button onClick={settings.discard}>Discard</Button>
          <Button type="submit" variant="primary" busy={update.isPending}>
            Save settings
          </Button>
        </div>
      )}
    </Page>
  );
}

const tell =
  (show: ReturnType<typeof useToast>) =>
  (outcomes: readonly { readonly updateStatus: boolean }[]): void => {
    const saved = outcomes.filter(({ updateStatus }) => updateStatus).length;
    if (saved > 0)
      show({ tone: "success", message: saved === 1 ? "1 setting was saved." : `${saved} settings were saved.` });
  };

type PageProps = {
  readonly scope: Scope;
  readonly level: Level;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
};

function Page({ scope, level, onSubmit, children }: PageProps) {
  const requests = CATEGORIES.map((category) => ({
    label: `List settings, ${category}`,
    operation: settingList,
    query: { ...scope, category },
  }));
  return (
    <>
      <PageHeader
        title="Settings"
        breadcrumbs={
          level === "organization"
            ? [
                <Link key="list" to="/account/organizations">
                  Organizations
                </Link>,
                <Name key="name">{scope.orgIdentifier ?? ""}</Name>,
              ]
            : undefined
        }
        meta={level === "account" ? undefined : "A value that is set here takes the place of the inherited one."}
        actions={<CopyAs requests={requests} />}
        tabs={level === "account" ? <SettingsTabs /> : undefined}
      />
      <form
        className={styles.page}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
      </form>
    </>
  );
}
