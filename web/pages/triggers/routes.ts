export const deliveryRoutes = [] as const;
