export const executionRoutes = [] as const;
