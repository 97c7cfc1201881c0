import { useSyncExternalStore } from "react";

/** Calls the listener when the colours of the page change: by the system, or by the reader's choice. */
function subscribe(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const choice = new MutationObserver(listener);
  system.addEventListener("change", listener);
  choice.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", listener);
    choice.disconnect();
  };
}

/** Changes with the colours, so that a canvas is drawn anew. */
export const useThemeKey = (): string =>
  useSyncExternalStore(
    subscribe,
    () => `${document.documentElement.dataset["theme"] ?? ""}${matchMedia("(prefers-color-scheme: dark)").matches}`,
  );

/** A token as a colour that a canvas understands. */
export function resolveColor(element: HTMLElement, variable: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
