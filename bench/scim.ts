/**
 * A directory provisions 10,000 people one by one, as Okta and Entra do it: it looks for the userName, and then makes the
 * person. The time of the whole, and of making a person the 99th percentile over the last thousand beside the first
 * thousand: a directory that has grown must not be slower.
 */
import { makeClient } from "./parts/client.ts";
import { beside, percentile, type Bench } from "./parts/result.ts";
import { withServer } from "./parts/server.ts";

const PEOPLE = 10_000;
const PART = 1_000;
/** Made before, so that the first thousand find a server that is warm. */
const WARM_UP = 300;
const TYPE = "application/scim+json";

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

export const scim: Bench = (signal, progress) =>
  withServer(signal, async ({ facts }) => {
    const client = makeClient(facts, 1, signal);
    await client.set({ requests_per_minute_account: "999999999", requests_per_minute_token: "999999999" });
    const users = `${facts.baseUrl}/ng/api/scim/account/${facts.accountId}/Users`;
    const provision = async (nth: number): Promise<{ readonly look: number; readonly make: number }> => {
      const filter = encodeURIComponent(`userName eq "person-${nth}@example.com"`);
      const found = await client.exchange("GET", `${users}?filter=${filter}`);
      const made = await client.exchange("POST", users, TYPE, person(nth));
      if (found.status !== 200 || made.status !== 201) throw new Error(`${found.status} ${made.status}: ${made.body}`);
      return { look: found.answeredAt - found.sentAt, make: made.answeredAt - made.sentAt };
    };
    for (let nth = -WARM_UP; nth < 0; nth += 1) await provision(nth);
    const times: Awaited<ReturnType<typeof provision>>[] = [];
    const from = performance.now();
    for (let nth = 0; nth < PEOPLE; nth += 1) {
      times.push(await provision(nth));
      if (nth % 100 === 0) progress(`${nth} of ${PEOPLE} people`);
    }
    const seconds = (performance.now() - from) / 1_000;
    client.close();
    const part = (of: "look" | "make", share: number, at: number): number =>
      percentile(
        times.slice(at, at === 0 ? PART : undefined).map((one) => one[of]),
        share,
      );
    return {
      definition:
        "10,000 people provisioned by SCIM one after the other: a look for the userName, then POST; floor of a part: the same over the first thousand people.",
      parameters: { people: PEOPLE, part: PART, warmUp: WARM_UP },
      figures: [
        { name: "10,000 people", value: seconds, unit: "s" },
        ...(["make", "look"] as const).flatMap((of) =>
          [0.5, 0.99].map((share) =>
            beside({
              name: `${of}, p${share * 100} of the last thousand`,
              value: part(of, share, -PART),
              unit: "ms",
              floor: part(of, share, 0),
              ...(share === 0.99 ? { goal: { of: "ratio", atMost: 1.25 } as const } : {}),
            }),
          ),
        ),
      ],
    };
  });
