import { Link } from "@tanstack/react-router";
import { send } from "../api/client.ts";
import { sessionEnd } from "../api/operations.gen.ts";
import { currentSession, goToSignIn } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuCheckItem, MenuItem, MenuLabel, MenuSeparator } from "../ui/menu.tsx";
import { setTheme, useTheme, type Theme } from "./theme.ts";
import styles from "./sidebar.module.css";

const THEMES: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function UserMenu() {
  const { user } = currentSession();
  const theme = useTheme();
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={styles.user}>
          <Icon name="user" />
          <span className={styles.userText}>
            <span className={styles.userName}>{user.name}</span>
            <span className={styles.email}>{user.email}</span>
          </span>
        </button>
      }
    >
      <MenuItem asLink>
        <Link to="/profile">Profile, keys and sessions</Link>
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>Theme</MenuLabel>
      {THEMES.map(({ value, label }) => (
        <MenuCheckItem key={value} checked={theme === value} onChange={() => setTheme(value)}>
          {label}
        </MenuCheckItem>
      ))}
      <MenuSeparator />
      <MenuItem icon="log-out" onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** Leaves also if the session has ended already. */
async function signOut(): Promise<void> {
  await send(sessionEnd, {}).catch(() => undefined);
  goToSignIn();
}
