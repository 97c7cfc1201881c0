export const accessRoutes = [] as const;
export const accessOfProjectRoutes = [] as const;
