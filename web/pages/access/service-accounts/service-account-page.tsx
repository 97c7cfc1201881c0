import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import {
  accessExplain,
  apiKeyAggregates,
  apiKeyCreate,
  ownershipList,
  serviceAccountAggregate,
  serviceAccountAggregates,
  serviceAccountDelete,
  serviceAccountUpdate,
} from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { ApiKeys } from "../../../components/tokens/api-keys.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { Card, Section } from "../../../ui/card.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { ExactTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { principalKey, type Principal } from "../assignments/principal.ts";
import { RoleAssignments } from "../assignments/role-assignments.tsx";
import { useAccessPath } from "../shared/access-path.ts";
import { DeleteItem } from "../shared/delete-item.tsx";
import { EditDetails } from "../shared/edit-details.tsx";
import { levelOf } from "../shared/levels.ts";
import { countOf } from "../shared/names.ts";
import styles from "../shared/panel.module.css";

const LISTS = [serviceAccountAggregate, serviceAccountAggregates];
type Open = "none" | "edit" | "delete";

/** A service account with its roles, API keys and tokens. */
export function ServiceAccountPage() {
  const scope = usePageScope();
  const identifier = useParams({ strict: false }).serviceAccount ?? "";
  const path = { identifier };
  const { data, error, refetch } = useQuery(dataQuery(serviceAccountAggregate, { path, query: scope }));
  const account = data?.serviceAccount;
  const base = useAccessPath();
  const [open, setOpen] = useState<Open>("none");
  const navigate = useNavigate();
  useTitle(account?.name ?? identifier, "Service accounts");
  const close = (): void => setOpen("none");
  const crumb = (
    <PathLink key="list" path={`${base}/service-accounts`}>
      Service accounts
    </PathLink>
  );
  if (account === undefined)
    return (
      <>
        <PageHeader title={<Name>{identifier}</Name>} breadcrumbs={[crumb]} />
        {error === null ? (
          <SkeletonLines lines={8} />
        ) : (
          <ErrorState
            title="The service account could not be loaded"
            message={messageOf(error)}
            onRetry={() => void refetch()}
          />
        )}
      </>
    );
  const principal: Principal = { type: "SERVICE_ACCOUNT", identifier, scopeLevel: levelOf(scope) };
  const keysQuery = { ...scope, apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier };
  return (
    <>
      <PageHeader
        title={<Name>{account.name}</Name>}
        breadcrumbs={[crumb]}
        meta={<code>{identifier}</code>}
        actions={
          <>
            <CopyAs
              requests={[
                { label: "Get the service account", operation: serviceAccountAggregate, path, query: scope },
                { label: "List API keys", operation: apiKeyAggregates, query: keysQuery },
              ]}
            />
            <ServiceAccountActions scope={scope} onOpen={setOpen} />
          </>
        }
      />
      <div className={styles.panel}>
        <Card>
          <KeyValues
            items={[
              { key: "E-mail", value: account.email },
              { key: "Id", value: <code>{account.uuid}</code> },
              {
                key: "Description",
                value: account.description === "" ? undefined : <Name>{account.description}</Name>,
              },
              { key: "Created", value: data && <ExactTime at={data.createdAt} /> },
            ]}
          />
        </Card>
        <Card>
          <RoleAssignments scope={scope} principal={principal} name={account.name} />
        </Card>
        <RelatedLinks scope={scope} path={`${base}/permissions`} principal={principal} />
        <Keys scope={scope} identifier={identifier} />
      </div>
      {open === "edit" && (
        <EditDetails
          noun="service account"
          former={account}
          lists={LISTS}
          save={(details) =>
            fetchData(serviceAccountUpdate, { path, query: scope, body: { ...scope, ...details, tags: account.tags } })
          }
          onClose={close}
        />
      )}
      {open === "delete" && (
        <DeleteItem
          action="Delete service account"
          name={account.name}
          outcome="was deleted"
          typedName={identifier}
          remove={() => fetchData(serviceAccountDelete, { path, query: scope })}
          lists={[serviceAccountAggregates]}
          onClose={close}
          onRemoved={() => void navigate({ to: `${base}/service-accounts` as "/" })}
        >
          Its API keys with {countOf(data?.tokensCount ?? 0, "token")} and its roles are deleted with it. Programs that
          use them are refused within a second, and triggers that run as it start nothing. This cannot be undone.
        </DeleteItem>
      )}
    </>
  );
}

function ServiceAccountActions({ scope, onOpen }: { readonly scope: Scope; readonly onOpen: (open: Open) => void }) {
  const may = useMay(scope);
  return (
    <>
      {may(serviceAccountDelete) && (
        <Button variant="ghost" icon="trash" onClick={() => onOpen("delete")}>
          Delete
        </Button>
      )}
      {may(serviceAccountUpdate) && (
        <Button icon="edit" onClick={() => onOpen("edit")}>
          Edit
        </Button>
      )}
    </>
  );
}

type RelatedLinksProps = { readonly scope: Scope; readonly path: string; readonly principal: Principal };

function RelatedLinks({ scope, path, principal }: RelatedLinksProps) {
  const may = useMay(scope);
  const ofAccount = useMay({});
  return (
    <ul className={styles.links}>
      {may(accessExplain) && (
        <li>
          <PathLink path={path} search={{ show: principalKey(principal) }}>
            What may this service account do here, and why?
          </PathLink>
        </li>
      )}
      {ofAccount(ownershipList) && (
        <li>
          <PathLink path="/account/ownership" search={{ principal: principalKey(principal), ...scope }}>
            What stops without this service account?
          </PathLink>
        </li>
      )}
    </ul>
  );
}

function Keys({ scope, identifier }: { readonly scope: Scope; readonly identifier: string }) {
  const may = useMay(scope);
  if (!may(apiKeyAggregates, identifier)) return null;
  return (
    <Section title="API keys">
      <ApiKeys
        owner={{ apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier, scope }}
        canChange={may(apiKeyCreate, identifier)}
      />
    </Section>
  );
}
