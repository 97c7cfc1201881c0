import type { PlacesOf } from "../environments/index.ts";
import type { Projects } from "../projects/index.ts";
import type { SecretsDeps } from "../secrets/index.ts";

/** Reads the applications and environments that usage scopes of secrets name. */
export const createScopeFacts = (
  applicationsExist: Projects["applicationsExist"],
  placesOf: PlacesOf,
): SecretsDeps["facts"] => ({
  applications: applicationsExist,
  environments: async (actor, ids) => {
    const places = [...(await placesOf(actor, ids)).values()];
    return new Map(places.map(({ id, projectId, production }) => [id, { applicationId: projectId, production }]));
  },
  usable: async (actor, { applications, environments }) =>
    new Set([
      ...(await applicationsExist(actor, applications, "core_environment_access")),
      ...(await placesOf(actor, environments, "used")).keys(),
    ]),
});
