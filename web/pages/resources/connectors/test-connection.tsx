import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData, type DataOf } from "../../../api/client.ts";
import { type connectorGet, connectorList, connectorTest } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { MenuItem } from "../../../ui/menu.tsx";
import { useToast } from "../../../ui/toast.tsx";

type TestConnectionProps = { readonly row: DataOf<typeof connectorGet>; readonly scope: Scope };

/** Tests the connection, from a delegate that the connector selects. The result stays with the connector. */
export function TestConnection({ row: { connector }, scope }: TestConnectionProps) {
  const may = useMay(scope);
  const show = useToast();
  const queryClient = useQueryClient();
  const test = useMutation({
    mutationFn: () => fetchData(connectorTest, { path: { identifier: connector.identifier }, query: { ...scope } }),
    onSuccess: ({ status, errorSummary }) => {
      void queryClient.invalidateQueries({ queryKey: [connectorList.id] });
      if (status === "SUCCESS") return show({ tone: "success", message: `${connector.name} is connected.` });
      if (status === "UNKNOWN") return show({ message: `${connector.name} is not tested: its document says so.` });
      return show({ tone: "failed", message: `${connector.name}: ${errorSummary ?? "the connection failed."}` });
    },
    onError: (error) => show({ tone: "failed", message: messageOf(error) }),
  });
  if (!may(connectorTest)) return null;
  return (
    <MenuItem
      icon="activity"
      onSelect={() => {
        show({ message: `Testing ${connector.name}. This takes up to 30 seconds.` });
        test.mutate();
      }}
    >
      Test connection
    </MenuItem>
  );
}
