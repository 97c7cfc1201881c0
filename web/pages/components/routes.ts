export const componentsRoutes = [] as const;
