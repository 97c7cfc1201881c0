import { createContext, useContext } from "react";

/** The open dialog, because what stands outside of it is inert and below it. */
export const PortalContext = createContext<HTMLElement | null>(null);

/** Where menus, popovers and tooltips are rendered. */
export const usePortalContainer = (): HTMLElement | undefined => useContext(PortalContext) ?? undefined;
