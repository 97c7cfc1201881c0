import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext } from "@tanstack/react-router";
import { Frame } from "../frame/frame.tsx";

export type RouterContext = { readonly queryClient: QueryClient };

export const rootRoute = createRootRouteWithContext<RouterContext>()({ component: Frame });
