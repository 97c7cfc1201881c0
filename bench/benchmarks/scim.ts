/**
 * A directory provisions 10,000 users one by one, as Okta and Entra do: it searches the userName and then creates the
 * user. The figures are the total time and the percentiles of search and creation over the last 1,000 users; the floor
 * is the first 1,000. A larger directory must not be slower.
 */
import { createClient } from "../platform/client.ts";
import { withRatio, percentile, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

/** `warmUp`: number of users created before the measurement, so that the server is warm for the first part. */
const SIZES: Sizes<{ people: number; part: number; warmUp: number }> = {
  whole: { people: 10_000, part: 1_000, warmUp: 300 },
  brief: { people: 20, part: 10, warmUp: 2 },
};
const TYPE = "application/scim+json";

const formatCount = (count: number): string => count.toLocaleString("en");

const person = (nth: number): string =>
  JSON.stringify({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: `person-${nth}@example.com`,
    externalId: `00u${nth}`,
    name: { givenName: "Person", familyName: `Number ${nth}` },
    displayName: `Person ${nth}`,
    emails: [{ value: `person-${nth}@example.com`, type: "work", primary: true }],
    active: true,
  });

export const scim: Bench = (signal, progress, size) =>
  withServer(signal, async ({ facts }) => {
    const { people, part, warmUp } = SIZES[size];
    const client = createClient(facts, 1, signal);
    await client.set({ requests_per_minute_account: "999999999", requests_per_minute_token: "999999999" });
    const users = `${facts.baseUrl}/ng/api/scim/account/${facts.accountId}/Users`;
    const provision = async (nth: number): Promise<{ readonly look: number; readonly make: number }> => {
      const filter = encodeURIComponent(`userName eq "person-${nth}@example.com"`);
      const search = await client.exchange("GET", `${users}?filter=${filter}`);
      const creation = await client.exchange("POST", users, TYPE, person(nth));
      if (search.status !== 200 || creation.status !== 201)
        throw new Error(`${search.status} ${creation.status}: ${creation.body}`);
      return { look: search.answeredAt - search.sentAt, make: creation.answeredAt - creation.sentAt };
    };
    for (let nth = -warmUp; nth < 0; nth += 1) await provision(nth);
    const times: Awaited<ReturnType<typeof provision>>[] = [];
    const from = performance.now();
    for (let nth = 0; nth < people; nth += 1) {
      times.push(await provision(nth));
      if (nth % 100 === 0) progress(`${nth} of ${people} people`);
    }
    const seconds = (performance.now() - from) / 1_000;
    client.close();
    const partOf = (of: "look" | "make", share: number, at: number): number =>
      percentile(
        times.slice(at, at === 0 ? part : undefined).map((one) => one[of]),
        share,
      );
    return {
      definition: `${formatCount(people)} people provisioned by SCIM one after the other: a look for the userName, then POST; floor of a part: the same over the first ${formatCount(part)} people.`,
      parameters: { people, part, warmUp },
      figures: [
        { name: `${formatCount(people)} people`, value: seconds, unit: "s" },
        ...(["make", "look"] as const).flatMap((of) =>
          [0.5, 0.99].map((share) =>
            withRatio({
              name: `${of}, p${share * 100} of the last ${formatCount(part)}`,
              value: partOf(of, share, -part),
              unit: "ms",
              floor: partOf(of, share, 0),
              ...(share === 0.99 ? { goal: { of: "ratio", atMost: 1.25 } as const } : {}),
            }),
          ),
        ),
      ],
    };
  });
