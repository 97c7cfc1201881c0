import { IconButton } from "../../ui/button.tsx";
import { Menu, MenuCheckItem, MenuItem, MenuLabel, MenuSeparator } from "../../ui/menu.tsx";
import { visibleText } from "../../util/visible-text.ts";
import type { Groups } from "./groups/use-groups.ts";

/** Shown of the list at once: those around the lines in sight. */
const MOST = 100;

type GroupMenuProps = {
  readonly groups: Groups;
  /** The first line in sight, when the menu opens. */
  readonly topLine: () => number;
  readonly onToggle: (line: number) => void;
};

/** Opens and closes groups, and goes to them. */
export function GroupMenu({ groups, topLine, onToggle }: GroupMenuProps) {
  if (groups.markers.length === 0 && !groups.hasMore) return null;
  return (
    <Menu trigger={<IconButton icon="list" label="Groups of lines" />}>
      <MenuItem icon="chevron-right" onSelect={groups.closeAll}>
        Close all groups
      </MenuItem>
      <MenuItem icon="chevron-down" onSelect={groups.openAll}>
        Open all groups
      </MenuItem>
      {groups.hasMore && (
        <MenuItem
          icon="search"
          onSelect={(event) => {
            event.preventDefault();
            groups.lookFurther();
          }}
        >
          Look for more groups
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuLabel>Open groups</MenuLabel>
      <GroupItems groups={groups} topLine={topLine} onToggle={onToggle} />
    </Menu>
  );
}

function GroupItems({ groups, topLine, onToggle }: GroupMenuProps) {
  const titled = groups.markers.filter(({ number }) => groups.isOpen(number) !== undefined);
  const from = Math.max(0, titled.findIndex(({ number }) => number >= topLine()) - MOST / 2);
  return titled.slice(from, from + MOST).map(({ number, title }) => (
    <MenuCheckItem key={number} checked={groups.isOpen(number) === true} onChange={() => onToggle(number)}>
      {title === "" ? `Line ${number}` : visibleText(title)}
    </MenuCheckItem>
  ));
}
