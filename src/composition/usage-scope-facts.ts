import type { FindEnvironmentPlaces } from "../environments/index.ts";
import type { Projects } from "../projects/index.ts";
import type { SecretsDeps } from "../secrets/index.ts";

/** Reads the applications and environments that usage scopes of secrets name: `facts` of the slice secrets. */
export const createUsageScopeFacts = (
  applicationsExist: Projects["applicationsExist"],
  findPlaces: FindEnvironmentPlaces,
): SecretsDeps["facts"] => ({
  applications: applicationsExist,
  environments: async (actor, ids) => {
    const { permitted, refused } = await findPlaces(actor, ids);
    const facts = [...permitted].map(
      ([id, { projectId, production }]) => [id, { applicationId: projectId, production }] as const,
    );
    return { permitted: new Map(facts), refused };
  },
  usable: async (actor, { applications, environments }) => {
    const inApplications = await applicationsExist(actor, applications, "core_environment_access");
    const places = await findPlaces(actor, environments, "used");
    return {
      permitted: new Set([...inApplications.permitted, ...places.permitted.keys()]),
      refused: new Map([...inApplications.refused, ...places.refused]),
    };
  },
});
