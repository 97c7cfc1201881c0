import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery } from "../../api/client.ts";
import { apiKeyAggregates, type ApiKeyContent } from "../../api/operations.gen.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import styles from "./api-keys.module.css";
import { CreateToken } from "./create-token.tsx";
import { DeleteApiKey } from "./delete-api-key.tsx";
import { TokenTable } from "./token-table.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";

type Open =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly apiKey: string | undefined }
  | { readonly kind: "delete"; readonly row: ApiKeyContent };

/** The API keys of an owner, each with its tokens. */
export function ApiKeys({ owner, canChange }: { readonly owner: TokenOwner; readonly canChange: boolean }) {
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const list = useQuery(dataQuery(apiKeyAggregates, { query: { ...ownerQuery(owner), pageSize: 100 } }));
  const keys = list.data?.content;
  const close = (): void => setOpen({ kind: "none" });
  const create = canChange && (
    <Button icon="plus" onClick={() => setOpen({ kind: "create", apiKey: undefined })}>
      New token
    </Button>
  );
  return (
    <div className={styles.keys}>
      {list.error !== null && (
        <ErrorState
          title="The API keys could not be loaded"
          message={messageOf(list.error)}
          onRetry={() => void list.refetch()}
        />
      )}
      {keys === undefined && list.error === null && <SkeletonLines lines={3} />}
      {keys?.length === 0 && (
        <EmptyState icon="key" title="No API keys yet" actions={create}>
          Programs use the API with a token. Tokens belong to an API key, which ends all of them when it is deleted.
        </EmptyState>
      )}
      {keys?.map((row) => (
        <Card
          key={row.apiKey.identifier}
          flush
          title={row.apiKey.name}
          description={<code>{row.apiKey.identifier}</code>}
          actions={
            canChange && (
              <>
                <Button
                  aria-label={`Delete key ${row.apiKey.name}`}
                  size="small"
                  icon="trash"
                  variant="ghost"
                  onClick={() => setOpen({ kind: "delete", row })}
                >
                  Delete key
                </Button>
                <Button
                  size="small"
                  icon="plus"
                  aria-label={`New token of ${row.apiKey.name}`}
                  onClick={() => setOpen({ kind: "create", apiKey: row.apiKey.identifier })}
                >
                  New token
                </Button>
              </>
            )
          }
        >
          <TokenTable owner={owner} apiKey={row.apiKey} canChange={canChange} />
        </Card>
      ))}
      {(keys?.length ?? 0) > 0 && create && (
        <div>
          <Button icon="key" variant="ghost" onClick={() => setOpen({ kind: "create", apiKey: undefined })}>
            New API key with a token
          </Button>
        </div>
      )}
      {open.kind === "create" && <CreateToken owner={owner} apiKey={open.apiKey} onClose={close} />}
      {open.kind === "delete" && <DeleteApiKey owner={owner} row={open.row} onClose={close} />}
    </div>
  );
}
