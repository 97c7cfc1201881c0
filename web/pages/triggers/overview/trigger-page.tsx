import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { deliveryList, triggerDelete, triggerDetails } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { IconButton } from "../../../ui/button.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { ButtonLink, Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteTrigger } from "../shared/delete-trigger.tsx";
import { maySaveTrigger } from "../shared/may-trigger.ts";
import { SwitchTrigger } from "../shared/switch-trigger.tsx";
import { EnabledBadge } from "../shared/trigger-badges.tsx";
import { paramsOf, useTriggerKey, type TriggerKey } from "../shared/trigger-key.ts";
import styles from "../triggers.module.css";
import { Deliveries } from "./deliveries.tsx";
import { DeliveryPanel } from "./delivery-panel.tsx";
import { useDeliveries } from "./use-deliveries.ts";
import { WebhookCard } from "./webhook-card.tsx";

const route = getRouteApi("/projects/$org/$project/triggers/$pipeline/$trigger");

/** One trigger: the address of its webhook, and the events that came. */
export function TriggerPage() {
  const key = useTriggerKey();
  const trigger = useQuery({ ...dataQuery(triggerDetails, key), placeholderData: (former) => former });
  useTitle(trigger.data?.name ?? key.path.identifier, "Triggers", key.query.projectIdentifier);
  if (trigger.error !== null && trigger.data === undefined)
    return (
      <ErrorState
        title="The trigger could not be loaded"
        message={messageOf(trigger.error)}
        correlationId={trigger.error instanceof ApiError ? trigger.error.correlationId : undefined}
        onRetry={() => void trigger.refetch()}
      />
    );
  if (trigger.data === undefined) return <SkeletonLines lines={8} />;
  return (
    <>
      <Header triggerKey={key} trigger={trigger.data} />
      <div className={styles.page}>
        <WebhookCard trigger={trigger.data} />
        <Events triggerKey={key} isEnabled={trigger.data.enabled} />
      </div>
    </>
  );
}

function Events({ triggerKey, isEnabled }: { readonly triggerKey: TriggerKey; readonly isEnabled: boolean }) {
  const { event } = route.useSearch();
  const found = useDeliveries(triggerKey);
  return (
    <>
      <Deliveries triggerKey={triggerKey} {...found} />
      {event !== undefined && (
        <DeliveryPanel
          triggerKey={triggerKey}
          eventId={event}
          status={found.deliveries?.find(({ eventId }) => eventId === event)?.status}
          isEnabled={isEnabled}
        />
      )}
    </>
  );
}

type HeaderProps = { readonly triggerKey: TriggerKey; readonly trigger: DataOf<typeof triggerDetails> };

function Header({ triggerKey, trigger }: HeaderProps) {
  const params = paramsOf(triggerKey);
  const navigate = route.useNavigate();
  const may = useMay(useProjectScope());
  const [open, setOpen] = useState<"switch" | "delete">();
  const canSave = maySaveTrigger(may, params.pipeline);
  const canDelete = may(triggerDelete, params.pipeline);
  const close = (): void => setOpen(undefined);
  return (
    <>
      <PageHeader
        breadcrumbs={[
          <Link key="list" to="/projects/$org/$project/triggers" params={params}>
            Triggers
          </Link>,
        ]}
        title={<Name>{trigger.name}</Name>}
        status={<EnabledBadge enabled={trigger.enabled} />}
        meta={
          <span className={styles.meta}>
            <code>{trigger.identifier}</code>
            <span>
              starts{" "}
              <Link to="/projects/$org/$project/pipelines/$pipeline" params={params}>
                <Name>{trigger.targetIdentifier}</Name>
              </Link>
            </span>
            <Link
              to="/projects/$org/$project/executions"
              params={params}
              search={{ pipeline: params.pipeline, webhook: [params.trigger] }}
            >
              Its executions
            </Link>
            <span>Version {trigger.version}</span>
            {trigger.description !== "" && <Name>{trigger.description}</Name>}
          </span>
        }
        actions={
          <>
            <CopyAs
              requests={[
                { label: "Read the trigger", operation: triggerDetails, ...triggerKey },
                { label: "List its events", operation: deliveryList, ...triggerKey },
              ]}
            />
            {(canSave || canDelete) && (
              <Menu trigger={<IconButton variant="secondary" icon="more" label={`Actions of ${trigger.name}`} />}>
                {canSave && (
                  <MenuItem icon={trigger.enabled ? "pause" : "play"} onSelect={() => setOpen("switch")}>
                    {trigger.enabled ? "Disable" : "Enable"}
                  </MenuItem>
                )}
                {canDelete && (
                  <MenuItem icon="trash" danger onSelect={() => setOpen("delete")}>
                    Delete
                  </MenuItem>
                )}
              </Menu>
            )}
            <ButtonLink
              icon={canSave ? "edit" : "code"}
              to="/projects/$org/$project/triggers/$pipeline/$trigger/edit"
              params={params}
            >
              {canSave ? "Edit" : "View YAML"}
            </ButtonLink>
          </>
        }
      />
      {open === "switch" && <SwitchTrigger triggerKey={triggerKey} trigger={trigger} onClose={close} />}
      {open === "delete" && (
        <DeleteTrigger
          triggerKey={triggerKey}
          name={trigger.name}
          onClose={close}
          onDeleted={() => void navigate({ to: "/projects/$org/$project/triggers", params })}
        />
      )}
    </>
  );
}
