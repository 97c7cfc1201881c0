/** Tags of applications, environments, pipelines and services, changed one by one. */
export { addTagMutations, type TagOperations } from "./graphql.ts";
