import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../../api/client.ts";
import { ownershipList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { PathLink } from "../../../ui/link.tsx";
import { principalKey } from "../assignments/principal.ts";
import { countOf } from "../shared/names.ts";

/** How much stops with the account of a user, with the way to adopt it before. */
export function StoppedResources({ user }: { readonly user: { readonly uuid: string } }) {
  const may = useMay({});
  const query = { principalType: "USER", principalIdentifier: user.uuid, pageSize: 1 } as const;
  const { data } = useQuery({ ...dataQuery(ownershipList, { query }), enabled: may(ownershipList) });
  const count = data === undefined ? 0 : data.resources.totalItems + data.hidden;
  if (count === 0) return null;
  const principal = principalKey({ type: "USER", scopeLevel: "account", identifier: user.uuid });
  return (
    <p>
      Triggers start nothing any more with {countOf(count, "resource")} of this user.{" "}
      <PathLink path="/account/ownership" search={{ principal }}>
        Adopt them first
      </PathLink>
    </p>
  );
}
