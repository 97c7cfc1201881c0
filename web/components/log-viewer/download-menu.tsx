import { IconButton } from "../../ui/button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { urlOf } from "./line-list.tsx";
import type { LogName } from "./lines/log-reader.ts";

/** The whole log as a file, which the browser fetches by itself. */
export function DownloadMenu({ name }: { readonly name: LogName }) {
  return (
    <Menu trigger={<IconButton icon="download" label="Download" />}>
      <MenuItem asLink>
        <a href={urlOf(name)}>Text</a>
      </MenuItem>
      <MenuItem asLink>
        <a href={urlOf(name, { format: "json" })}>JSON lines, with times</a>
      </MenuItem>
    </Menu>
  );
}
