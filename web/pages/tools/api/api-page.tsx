import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { messageOf } from "../../../api/api-error.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ButtonLink, Link } from "../../../ui/link.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { matchingOperations, operationsOf, type ApiOperation } from "./described.ts";
import { OperationView } from "./operation-view.tsx";
import styles from "./api-page.module.css";

const route = getRouteApi("/tools/api");

const documentQuery = {
  queryKey: ["openapi"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly ApiOperation[]> => {
    const answer = await fetch("/openapi.json", { signal });
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    return operationsOf((await answer.json()) as Parameters<typeof operationsOf>[0]);
  },
  staleTime: Number.POSITIVE_INFINITY,
} as const;

/** The description of the REST API, to read and to try with the session. */
export function ApiPage() {
  const { q = "", operation: id } = route.useSearch();
  const navigate = route.useNavigate();
  const operations = useQuery(documentQuery);
  useTitle(id ?? "API reference", ...(id === undefined ? [] : ["API reference"]));
  const found = matchingOperations(operations.data ?? [], q);
  const shown = operations.data?.find((one) => one.id === id);
  return (
    <>
      <PageHeader
        title="API reference"
        meta="Every page of this interface uses these operations. Requests that you send here use your session."
        actions={
          <ButtonLink to="." href="/openapi.json" target="_blank" icon="download" reloadDocument>
            OpenAPI document
          </ButtonLink>
        }
      />
      {operations.error !== null && <Notice tone="failed">{messageOf(operations.error)}</Notice>}
      <div className={styles.layout}>
        <nav className={styles.list} aria-label="Operations">
          <SearchField
            label="Search operations"
            value={q}
            onSearch={(text) => void navigate({ search: (former) => withText(former, text), replace: true })}
          />
          {operations.data === undefined ? (
            <SkeletonLines lines={12} />
          ) : (
            <OperationList operations={found} current={id} />
          )}
          {operations.data !== undefined && found.length === 0 && <p className={styles.none}>No operation matches.</p>}
        </nav>
        <div className={styles.detail}>
          {shown === undefined ? (
            <EmptyState icon="book" title="Choose an operation">
              Each shows its permission, parameters, body and answers, and can be sent from here.
            </EmptyState>
          ) : (
            <OperationView key={shown.id} operation={shown} />
          )}
        </div>
      </div>
    </>
  );
}

function withText(former: { readonly q?: string; readonly operation?: string }, text: string) {
  const { q: _, ...rest } = former;
  return text === "" ? rest : { ...rest, q: text };
}

type OperationListProps = { readonly operations: readonly ApiOperation[]; readonly current: string | undefined };

function OperationList({ operations, current }: OperationListProps) {
  const groups = Map.groupBy(operations, ({ tag }) => tag);
  return [...groups].map(([tag, members]) => (
    <section key={tag}>
      <h2 className={styles.tag}>{tag}</h2>
      <ul className={styles.operations}>
        {members.map(({ id, method, summary }) => (
          <li key={id}>
            <Link
              look="quiet"
              to="/tools/api"
              search={(former) => ({ ...former, operation: id })}
              aria-current={id === current ? "true" : undefined}
              className={styles.operation}
              preload={false}
            >
              <span className={styles.method}>{method}</span> {summary ?? id}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ));
}
