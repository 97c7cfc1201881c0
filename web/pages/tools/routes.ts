export const toolRoutes = [] as const;
