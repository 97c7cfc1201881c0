import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { MAX_CHUNK, type ToServer, toServer } from "../../protocol/messages.ts";
import { type Link, createShipper } from "./shipper.ts";
import { createPlace } from "../testing/kit.ts";
import { newTaskId } from "../testing/pretend-server.ts";

const place = createPlace();
after(place.remove);
const end = { startedAt: 1, endedAt: 2, outcome: { kind: "exited" as const, exitCode: 0, outputs: [] } };

function begin(content: string) {
  const lease = { task: newTaskId(), epoch: 1 };
  const file = join(place.path, lease.task);
  writeFileSync(file, content);
  const sent: ToServer[] = [];
  const state = { busy: false };
  const link: Link = { send: (message) => sent.push(toServer.parse(message)), isBusy: () => state.busy };
  return { shipper: createShipper(lease, file), file, sent, link, state };
}

const textOf = (message: ToServer | undefined): string =>
  message?.kind === "log" || message?.kind === "finished"
    ? Buffer.from(message.data, "base64").toString()
    : assert.fail();
const kinds = (sent: readonly ToServer[]) =>
  sent.map((message) => (message.kind === "log" || message.kind === "finished" ? [message.kind, message.offset] : []));

test("a short step needs one message", () => {
  const { shipper, sent, link } = begin("");
  shipper.connect(link, 0);
  shipper.sendAvailable();
  assert.deepEqual(sent, []);
  shipper.end(end);
  shipper.sendAvailable();
  assert.deepEqual(kinds(sent), [["finished", 0]]);
});

test("a window of four messages waits for acks, and goes on with them", () => {
  const { shipper, sent, link } = begin("x".repeat(MAX_CHUNK * 6 + 1));
  shipper.connect(link, 0);
  shipper.sendAvailable();
  assert.equal(sent.length, 4);
  assert.equal(shipper.acknowledge(MAX_CHUNK * 2), true);
  assert.deepEqual(kinds(sent.slice(4)), [
    ["log", MAX_CHUNK * 4],
    ["log", MAX_CHUNK * 5],
  ]);
  shipper.end(end);
  assert.deepEqual(kinds(sent.slice(6)), [["finished", MAX_CHUNK * 6]]);
});

test("a busy network takes one message at a time", () => {
  const { shipper, sent, link, state } = begin("x".repeat(MAX_CHUNK * 3));
  state.busy = true;
  shipper.connect(link, 0);
  assert.equal(sent.length, 1);
  shipper.acknowledge(MAX_CHUNK);
  assert.equal(sent.length, 2);
});

test("a new connection goes on where the server says, the end included", () => {
  const { shipper, file, sent, link } = begin("one\n");
  shipper.connect(link, 0);
  shipper.disconnect();
  appendFileSync(file, "two\n");
  shipper.end(end);
  assert.equal(sent.length, 1);
  shipper.connect(link, 0);
  shipper.disconnect();
  shipper.connect(link, 6);
  assert.deepEqual(kinds(sent), [
    ["log", 0],
    ["finished", 0],
    ["finished", 6],
  ]);
  assert.deepEqual(sent.map(textOf), ["one\n", "one\ntwo\n", "o\n"]);
});

test("an ack for what was never sent is refused, a repeated one is not", () => {
  const { shipper, link } = begin("one\n");
  shipper.connect(link, 0);
  assert.equal(shipper.acknowledge(4), true);
  assert.equal(shipper.acknowledge(2), true);
  assert.equal(shipper.acknowledge(5), false);
});

test("an unfinished character waits for its rest, and goes with the end at the latest", () => {
  const { shipper, file, sent, link } = begin("");
  shipper.connect(link, 0);
  appendFileSync(file, Buffer.from([0x61, 0xe2, 0x82]));
  shipper.sendAvailable();
  appendFileSync(file, Buffer.from([0xac]));
  shipper.sendAvailable();
  appendFileSync(file, Buffer.from([0xe2]));
  shipper.sendAvailable();
  shipper.end(end);
  assert.deepEqual(kinds(sent), [
    ["log", 0],
    ["log", 1],
    ["finished", 4],
  ]);
  assert.deepEqual(sent.slice(0, 2).map(textOf), ["a", "€"]);
});
