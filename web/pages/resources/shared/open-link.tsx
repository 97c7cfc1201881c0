import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";

/** The name of a resource; it opens its details beside the list. */
export const OpenLink = ({ identifier, name }: { readonly identifier: string; readonly name: string }) => (
  <Link look="quiet" to="." search={(former) => ({ ...former, open: identifier })}>
    <Name>{name}</Name>
  </Link>
);
