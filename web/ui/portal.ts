import { createContext, useContext } from "react";

/** The open dialog, because what stands outside of it is inert and below it. */
export const PortalContext = createContext<HTMLElement | null>(null);

/** Where menus, popovers and tooltips are rendered: in the open dialog, or in the landmark of the page's content. */
export const usePortalContainer = (): HTMLElement | undefined =>
  useContext(PortalContext) ?? document.querySelector("main") ?? undefined;
