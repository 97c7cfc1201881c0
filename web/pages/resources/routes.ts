export const resourceRoutes = [] as const;
export const resourceOfProjectRoutes = [] as const;
