/** A server as a process, with its local delegate and a database of its own, into which examples are loaded. */
import { loadExample } from "../../../scripts/example/load.ts";
import { createClient, type Client } from "../clients/client.ts";
import { databaseByAddress } from "../database.ts";
import { createServerFolder, readFacts, startServer } from "./server-process.ts";

export type ExampleServer = {
  /** Acts in the project of the examples. */
  readonly client: Client;
  readonly stop: () => Promise<void>;
};

export async function startExampleServer(...examples: readonly string[]): Promise<ExampleServer> {
  const [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  const server = await startServer(folder, { DATABASE_URL: database.url });
  const stop = async (): Promise<void> => {
    await server.end("SIGTERM");
    await folder.remove();
    await database.drop();
  };
  try {
    const facts = await readFacts(folder);
    for (const example of examples) await loadExample(facts, example);
    return { client: createClient(facts, "quickstart"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
