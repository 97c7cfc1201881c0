import { Tooltip as RadixTooltip } from "radix-ui";
import type { ReactNode } from "react";
import { usePortalContainer } from "./portal.ts";
import styles from "./tooltip.module.css";

type TooltipProps = {
  readonly content: ReactNode;
  readonly side?: "top" | "right" | "bottom" | "left" | undefined;
  /** One element that can have the focus. */
  readonly children: ReactNode;
};

/** Explains a control on hover and focus. It repeats or adds, and is never the only place of something needed. */
export function Tooltip({ content, side = "top", children }: TooltipProps) {
  const container = usePortalContainer();
  return (
    <RadixTooltip.Provider delayDuration={400}>
      <RadixTooltip.Root>
        <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
        <RadixTooltip.Portal container={container}>
          <RadixTooltip.Content className={styles.tooltip} side={side} sideOffset={6} collisionPadding={8}>
            {content}
          </RadixTooltip.Content>
        </RadixTooltip.Portal>
      </RadixTooltip.Root>
    </RadixTooltip.Provider>
  );
}
