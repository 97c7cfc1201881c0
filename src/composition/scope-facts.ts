import type { FindEnvironmentPlaces } from "../environments/index.ts";
import type { Projects } from "../projects/index.ts";
import type { SecretsDeps } from "../secrets/index.ts";

/** Reads the applications and environments that usage scopes of secrets name. */
export const createScopeFacts = (
  applicationsExist: Projects["applicationsExist"],
  findPlaces: FindEnvironmentPlaces,
): SecretsDeps["facts"] => ({
  applications: applicationsExist,
  environments: async (actor, ids) => {
    const places = [...(await findPlaces(actor, ids)).values()];
    return new Map(places.map(({ id, projectId, production }) => [id, { applicationId: projectId, production }]));
  },
  usable: async (actor, { applications, environments }) =>
    new Set([
      ...(await applicationsExist(actor, applications, "core_environment_access")),
      ...(await findPlaces(actor, environments, "used")).keys(),
    ]),
});
