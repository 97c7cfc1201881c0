import { addressOf } from "../api/address.ts";
import type { AnyOperation } from "../api/operation.ts";
import { currentSession } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy-button.tsx";
import { Menu, MenuItem, MenuLabel } from "../ui/menu.tsx";
import { useToast } from "../ui/toast.tsx";
import { formatCurl } from "../util/curl.ts";

type Values = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export type CopiedRequest = {
  /** What the request does: List executions */
  readonly label: string;
  readonly operation: AnyOperation;
  readonly path?: Values | undefined;
  readonly query?: Values | undefined;
  readonly body?: unknown;
};

export type CopiedQuery = {
  readonly label: string;
  /** A GraphQL document. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
};

type CopyAsProps = {
  readonly requests?: readonly CopiedRequest[] | undefined;
  readonly queries?: readonly CopiedQuery[] | undefined;
};

/** Offers what the page shows as requests of the public API. The key is a variable of the shell, never a credential. */
export function CopyAs({ requests = [], queries = [] }: CopyAsProps) {
  const show = useToast();
  const copy = (text: string): void => {
    copyText(text).then(
      () => show({ tone: "success", message: "Copied. Set KEY to one of your API keys." }),
      () => show({ tone: "failed", message: "The browser did not allow copying." }),
    );
  };
  return (
    <Menu trigger={<IconButton icon="code" label="Copy as curl or GraphQL" variant="secondary" />}>
      {requests.length > 0 && <MenuLabel>Copy as curl</MenuLabel>}
      {requests.map((request) => (
        <MenuItem key={request.label} icon="terminal" onSelect={() => copy(curlOf(request))}>
          {request.label}
        </MenuItem>
      ))}
      {queries.length > 0 && <MenuLabel>Copy as GraphQL</MenuLabel>}
      {queries.map((query) => (
        <MenuItem key={query.label} icon="code" onSelect={() => copy(graphqlOf(query))}>
          {query.label}
        </MenuItem>
      ))}
    </Menu>
  );
}

function curlOf({ operation, path, query, body }: CopiedRequest): string {
  const { accountIdentifier: accountId } = currentSession();
  const address = addressOf(operation, { ...(path && { path }), ...(query && { query }), accountId });
  const headers = typeof body === "string" ? { headers: { "content-type": "application/yaml" } } : {};
  return formatCurl({ method: operation.method, url: location.origin + address, body, ...headers });
}

const graphqlOf = ({ query, variables }: CopiedQuery): string =>
  variables === undefined
    ? query
    : `${query.trim()}\n\n# Variables\n# ${JSON.stringify(variables, undefined, 2).replaceAll("\n", "\n# ")}\n`;
