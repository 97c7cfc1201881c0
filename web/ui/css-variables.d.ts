import "react";

declare module "react" {
  interface CSSProperties {
    /** Custom properties carry computed geometry into the style sheets. */
    readonly [name: `--${string}`]: string | number | undefined;
  }
}
