/**
 * The time from an accepted webhook to the first action of the script.
 *
 * The script's first action is `t=$EPOCHREALTIME`. It prints that time and then opens a socket to the benchmark, so
 * that the benchmark sends no requests while it waits. The time is read from the execution's log afterwards. A webhook
 * is accepted when the head of the answer 200 has arrived at the caller. The time from sending the request is reported
 * too; it becomes the headline if a script runs before its answer arrives.
 *
 * The floor is a bare Bash from a Node process, from `spawn` to the same first action. It alternates with the triggers.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server as TcpServer } from "node:net";
import { bash } from "../load/children.ts";
import { createClient, type Client } from "../platform/client.ts";
import { createPipeline, createProject, createWebhook, execute, executionOf, logOf } from "../platform/pipelines.ts";
import { withRatio, percentile, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";
import { millisecondsOf, createWallClock } from "../load/wall-clock.ts";

type Counts = { readonly triggers: number; readonly warmUp: number };

const SIZES: Sizes<Counts> = { whole: { triggers: 200, warmUp: 20 }, brief: { triggers: 3, warmUp: 1 } };

type Sample = { readonly sinceSent: number; readonly sinceAnswered: number; readonly bare: number };

export const latency: Bench = (signal, progress, size) =>
  withServer(signal, async ({ facts }) => {
    const { triggers, warmUp } = SIZES[size];
    const client = createClient(facts, 2, signal);
    const listener = await listen();
    const { port } = listener.address() as AddressInfo;
    await createProject(client);
    const script = `t=$EPOCHREALTIME\necho "$t"\necho >/dev/tcp/127.0.0.1/${port}\n`;
    const pipeline = await createPipeline(client, "first_line", 1, script);
    const url = await createWebhook(client, pipeline);
    // The first run also waits for the delegate to connect.
    await logOf(client, await execute(client, pipeline));
    const wallClock = createWallClock();
    const offset = wallClock() - performance.now();
    const samples: Sample[] = [];
    for (let n = -warmUp; n < triggers; n += 1) {
      signal.throwIfAborted();
      const sample = {
        ...(await trigger(client, url, once(listener, "connection", { signal }), offset)),
        bare: await bareFirstLine(wallClock),
      };
      if (n >= 0) samples.push(sample);
      if (n % 50 === 0) progress(`${n} of ${triggers}`);
    }
    client.close();
    listener.close();
    return resultOf(samples, SIZES[size]);
  });

async function listen(): Promise<TcpServer> {
  const server = createServer((socket) => socket.on("error", () => undefined).resume());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

async function trigger(
  client: Client,
  url: string,
  started: Promise<unknown>,
  offset: number,
): Promise<Omit<Sample, "bare">> {
  const delivery = await client.call(url);
  await started;
  const firstLine = millisecondsOf(await logOf(client, await executionOf(client, delivery))) - offset;
  return { sinceSent: firstLine - delivery.sentAt, sinceAnswered: firstLine - delivery.answeredAt };
}

async function bareFirstLine(wallClock: () => number): Promise<number> {
  const from = wallClock();
  return millisecondsOf(await bash(`t=$EPOCHREALTIME\necho "$t"\n`)) - from;
}

function resultOf(samples: readonly Sample[], counts: Counts) {
  const negative = samples.filter(({ sinceAnswered }) => sinceAnswered < 0).length;
  const headline = negative === 0 ? "sinceAnswered" : "sinceSent";
  const words = { sinceAnswered: "answer to first line", sinceSent: "request to first line" } as const;
  const other = headline === "sinceSent" ? "sinceAnswered" : "sinceSent";
  const figures = ([headline, other] as const).flatMap((key) =>
    ([50, 95, 99] as const).map((share) =>
      withRatio({
        name: `${words[key]}, p${share}`,
        value: percentile(
          samples.map((sample) => sample[key]),
          share / 100,
        ),
        unit: "ms",
        floor: percentile(
          samples.map((sample) => sample.bare),
          share / 100,
        ),
        ...(key === headline && share === 50 ? { goal: { of: "value", atMost: 25 } as const } : {}),
      }),
    ),
  );
  return {
    definition:
      "From the answer 200 to a custom webhook (its head at the caller) to the script's first action, $EPOCHREALTIME; " +
      "floor: from spawn of a bare Bash in Node to the same action.",
    parameters: { ...counts, ranBeforeTheAnswer: negative, headline: words[headline] },
    figures,
  };
}
