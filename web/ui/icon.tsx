import { iconPaths, type IconName } from "./icon-paths.ts";
import styles from "./icon.module.css";
import { classNames } from "../util/class-names.ts";

export { iconNames, type IconName } from "./icon-paths.ts";

type IconProps = {
  readonly name: IconName;
  /** Pixels at the default font size. */
  readonly size?: 12 | 14 | 16 | 20 | 24;
  /** For icons that stand alone. Without it the text beside the icon says the same. */
  readonly label?: string | undefined;
  readonly className?: string | undefined;
};

export function Icon({ name, size = 16, label, className }: IconProps) {
  const naming = label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return (
    <svg className={classNames(styles.icon, className)} width={size} height={size} viewBox="0 0 16 16" {...naming}>
      <path d={iconPaths[name]} />
    </svg>
  );
}
