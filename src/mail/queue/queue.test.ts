/** The queue of outgoing mails with a real mail server: retries, replicas that die, and what executions are told. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { create, eventually, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { MAIL_USER, startMailServer, type MailServer } from "../../../test/support/services/mail-server.ts";
import { findGroupAddresses } from "../../access/index.ts";
import { createAudit } from "../../audit/index.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { holdRootKey } from "../../identity/index.ts";
import { createSealer } from "../../platform/crypto/seal.ts";
import { allowPublicAddresses } from "../../platform/outgoing/reach.ts";
import { createMail, type Mail, type MailDeps } from "../index.ts";
import { claimMail, deleteClaimedMail, insertMail, markDelivering, releaseMail } from "../store/outgoing.ts";
import type { MailOutcome, NewMail } from "./mail.ts";

let platform: TestPlatform;
let server: MailServer;
let authorities: string[];
let accountId: Uuid;
/** What executions were told: the end of each node's mail. */
const ended: { nodeId: Uuid; outcome: MailOutcome }[] = [];
const failures: unknown[] = [];
const replicas: Mail[] = [];
const lastOutcome = (): MailOutcome | undefined => ended.at(-1)?.outcome;

before(async () => {
  server = await startMailServer();
  authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(server.certificate, "utf8")]);
  platform = await startTestPlatform();
  accountId = fromWire(platform.accountId) as Uuid;
  await made(create.project(platform, projectYaml()));
  await configure(server.port);
});
after(async () => {
  for (const replica of replicas) await replica.stop();
  setDefaultCACertificates(authorities);
  await platform?.stop();
  await server?.stop();
});
beforeEach(() => {
  ended.length = 0;
  failures.length = 0;
});

async function configure(port: number): Promise<void> {
  const { body } = await platform.send("GET", "/ng/api/smtpConfig");
  const value = { host: "localhost", port, fromAddress: "ci@example.com", startTLS: true, ...MAIL_USER };
  const method = body.data ? "PUT" : "POST";
  await made(
    platform.send(method, "/ng/api/smtpConfig", {
      contentType: JSON_TYPE,
      body: JSON.stringify({ name: "Mail server", value }),
    }),
  );
}

/** The slice as a server builds it, beside the platform's own, which may not connect to the mail server. */
function replica(changes: Partial<MailDeps> = {}): Mail {
  const { db, clock, keys } = platform;
  const newId = (): Uuid => randomUUIDv7() as Uuid;
  const mail = createMail({
    db,
    audit: createAudit({ clock, newId }),
    clock,
    newId,
    authorize: () => {},
    sealer: createSealer(keys, "mail passwords"),
    holdRootKey: holdRootKey(keys),
    findGroupAddresses: (account, which) => findGroupAddresses(db, account, which),
    mayReach: allowPublicAddresses(["127.0.0.0/8", "::1"]),
    onMailEnded: ({ nodeId }, outcome, take) =>
      db.transaction(async (tx) => {
        if (await take(tx)) ended.push({ nodeId, outcome });
      }),
    onError: (error) => failures.push(error),
    ...changes,
  });
  replicas.push(mail);
  return mail;
}

const mailTo = (to: readonly string[], changes: Partial<NewMail> = {}): NewMail => ({
  accountId,
  executionId: randomUUIDv7() as Uuid,
  nodeId: randomUUIDv7() as Uuid,
  orgIdentifier: "default",
  projectIdentifier: "shop",
  to,
  cc: [],
  toUserGroups: [],
  ccUserGroups: [],
  subject: "Build 7",
  body: "It is done.",
  fireAndForget: false,
  deadlineAt: platform.clock.now() + 3_600_000,
  ...changes,
});

const enqueue = async (mail: Mail, one: NewMail): Promise<NewMail> => {
  await platform.db.transaction((tx) => mail.enqueue(tx, one));
  await mail.idle();
  return one;
};
const rows = (): Promise<readonly Record<string, unknown>[]> =>
  platform.db.query("select tries, last_error, delivering, next_try_at from outgoing_mails");
const received = (address: string): number => server.received.filter(({ to }) => to.includes(address)).length;
const unique = (name = "ada"): string => `${name}@n${randomUUIDv7()}.example.com`;

test("a mail is sent after the commit, and its end is reported once", async () => {
  const mail = replica();
  const address = unique();
  const { nodeId } = await enqueue(mail, mailTo([address, address.toUpperCase()]));
  assert.deepEqual(ended, [{ nodeId, outcome: { kind: "sent", recipients: 1 } }]);
  assert.deepEqual([received(address), await rows()], [1, []]);
  await mail.sendDue();
  await mail.idle();
  assert.deepEqual([received(address), ended.length], [1, 1]);
});

test("a mail of a transaction that rolls back is not sent", async () => {
  const mail = replica();
  const address = unique();
  const rolledBack = platform.db.transaction(async (tx) => {
    await mail.enqueue(tx, mailTo([address]));
    throw new Error("no");
  });
  await assert.rejects(rolledBack, { message: "no" });
  await mail.sendDue();
  await mail.idle();
  assert.deepEqual([received(address), ended], [0, []]);
});

test("invalid mails end as failed with what is wrong, and are not stored", async () => {
  const mail = replica();
  const many = Array.from({ length: 257 }, (_, nth) => `a${nth}@example.com`);
  for (const [change, message] of [
    [{ to: [] }, /no recipient/],
    [{ to: ["ada"] }, /'ada' is not an e-mail address/],
    [{ cc: ["a@b\r\nc"] }, /is not an e-mail address/],
    [{ to: many }, /has 257 recipients; at most 256/],
    [{ toUserGroups: ["a.b.c"] }, /'a\.b\.c' is not the reference of a user group/],
    [{ toUserGroups: ["unheard"] }, /User group 'unheard' does not exist/],
    [{ subject: "a\nBcc: x@y" }, /line break/],
    [{ subject: "x".repeat(999) }, /has 999 characters/],
    [{ body: "x".repeat(256 * 1024 + 1) }, /has 262145 bytes/],
  ] as const) {
    ended.length = 0;
    await enqueue(mail, mailTo(["ada@example.com"], change));
    assert.match(JSON.stringify(ended), /"kind":"failed"/);
    assert.match(JSON.stringify(ended), message);
  }
  assert.deepEqual(await rows(), []);
});

test("a refused mail fails at once; a delayed one is tried again with growing pauses until its deadline", async () => {
  const mail = replica();
  await enqueue(mail, mailTo(["unknown@example.com"]));
  assert.equal(lastOutcome()?.kind, "failed");
  ended.length = 0;
  const start = platform.clock.now();
  const one = await enqueue(mail, mailTo(["busy@example.com"], { deadlineAt: start + 100_000 }));
  assert.deepEqual(ended, []);
  const [delayed] = await mail.findDelayed(accountId, one.executionId);
  assert.deepEqual([delayed?.nodeId, delayed?.nextTryAt], [one.nodeId, start + 5_000]);
  assert.match(delayed?.reason ?? "", /450 4\.2\.1 try again later/);
  const connections = server.connections();
  for (const [advance, pause] of [
    [4_999, null],
    [1, 15_000],
    [15_000, 45_000],
  ] as const) {
    platform.clock.advance(advance);
    await mail.sendDue();
    await mail.idle();
    if (pause !== null) assert.equal((await rows())[0]?.["next_try_at"], platform.clock.now() + pause);
  }
  assert.equal(server.connections() - connections, 2);
  platform.clock.advance(45_000);
  await mail.sendDue();
  await mail.idle();
  assert.equal(lastOutcome()?.kind, "failed");
  assert.match(JSON.stringify(ended[0]), /was not sent in time\. .*450 4\.2\.1 try again later/);
  assert.deepEqual(await rows(), []);
});

test("a mail that waits is sent when the mail server is there again", async () => {
  const mail = replica();
  const address = unique();
  const late = await startMailServer();
  await late.stop();
  await configure(late.port);
  await enqueue(mail, mailTo([address]));
  assert.match(String((await rows())[0]?.["last_error"]), /refused the connection/);
  await configure(server.port);
  platform.clock.advance(5_000);
  await mail.sendDue();
  await mail.idle();
  assert.deepEqual([received(address), lastOutcome()?.kind], [1, "sent"]);
});

/** Ends the connections of a replica to the mail server as its death would, without a word to the database. */
function dyingReplica(): { readonly mail: Mail; readonly die: () => Promise<void> } {
  let isDead = false;
  const { db } = platform;
  const never = new Promise<never>(() => {});
  const mail = replica({
    db: {
      ...db,
      query: (...args) => (isDead ? never : db.query(...args)),
      transaction: (work) => (isDead ? never : db.transaction(work)),
    },
    onMailEnded: () => never,
  });
  replicas.splice(replicas.indexOf(mail), 1);
  return { mail, die: async () => void (isDead = true) };
}

test("a replica that dies while a mail is delivered leaves it as unknown, and no other replica sends it again", async () => {
  const silent = await startMailServer();
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(silent.certificate, "utf8")]);
  await configure(silent.port);
  const { mail, die } = dyingReplica();
  const one = mailTo(["silent@example.com"]);
  await platform.db.transaction((tx) => mail.enqueue(tx, one));
  await silent.withheld;
  await die();
  const other = replica();
  await other.sendDue();
  await other.idle();
  assert.deepEqual([ended, (await rows())[0]?.["delivering"]], [[], true]);
  platform.clock.advance(300_000);
  await Promise.all([other.sendDue(), replica().sendDue()]);
  for (const each of replicas) await each.idle();
  assert.equal(ended.length, 1);
  assert.deepEqual(ended[0], {
    nodeId: one.nodeId,
    outcome: {
      kind: "unknown",
      message:
        "The connection ended after the mail was sent and before the mail server confirmed it. The mail may have been delivered, so it is not sent again.",
    },
  });
  assert.equal(silent.received.length, 1);
  await silent.stop();
  await configure(server.port);
});

test("a replica that dies before the message leaves the mail to another one", async () => {
  const address = unique();
  const claimed = Promise.withResolvers<void>();
  const { mail } = ((): { mail: Mail } => {
    const made = replica({
      findGroupAddresses: () => {
        claimed.resolve();
        return new Promise(() => {});
      },
    });
    replicas.splice(replicas.indexOf(made), 1);
    return { mail: made };
  })();
  const group = await createGroup("late", [address]);
  await platform.db.transaction((tx) => mail.enqueue(tx, mailTo([], { toUserGroups: [group] })));
  await claimed.promise;
  const other = replica();
  await other.sendDue();
  await other.idle();
  assert.equal(received(address), 0);
  platform.clock.advance(300_000);
  await other.sendDue();
  await other.idle();
  assert.deepEqual([received(address), lastOutcome()?.kind], [1, "sent"]);
});

test("a replica whose claim has passed to another one can neither send the mail nor end it", async () => {
  const { db, clock } = platform;
  const [id, first, second] = [randomUUIDv7() as Uuid, randomUUIDv7() as Uuid, randomUUIDv7() as Uuid];
  // Due later than any replica of this test looks.
  const at = clock.now() + 86_400_000;
  const one = { ...mailTo([unique()]), id, fault: null, createdAt: at };
  await db.transaction((tx) => insertMail(tx, accountId, one));
  const claim = (now: number, claimId: Uuid) => claimMail(db, { now, until: now + 1_000, claimId, except: [] });
  assert.equal((await claim(at, first))?.tries, 1);
  assert.equal(await claim(at + 999, second), undefined);
  assert.equal((await claim(at + 1_000, second))?.tries, 2);
  const old = { id, claimId: first };
  assert.equal(await markDelivering(db, accountId, old), false);
  assert.equal(await db.transaction((tx) => deleteClaimedMail(tx, accountId, old)), false);
  await releaseMail(db, accountId, { ...old, at, error: "late" });
  assert.equal((await rows())[0]?.["last_error"], null);
  const own = { id, claimId: second };
  assert.equal(await markDelivering(db, accountId, own), true);
  assert.equal(await db.transaction((tx) => deleteClaimedMail(tx, accountId, own)), true);
});

test("a mail whose time was up before any server had tried it is not sent", async () => {
  const address = unique();
  await enqueue(replica(), mailTo([address], { deadlineAt: platform.clock.now() }));
  assert.deepEqual(lastOutcome(), {
    ...{ kind: "failed", message: "The mail was not sent in time. No server has tried it." },
  });
  assert.equal(received(address), 0);
});

test("many replicas send each mail once", async () => {
  const all = [replica(), replica(), replica()];
  const addresses = Array.from({ length: 24 }, () => unique());
  await platform.db.transaction(async (tx) => {
    for (const address of addresses) await all[0]?.enqueue(tx, mailTo([address]));
  });
  await Promise.all(all.map((each) => each.sendDue()));
  for (const each of replicas) await each.idle();
  assert.deepEqual(
    addresses.map(received),
    addresses.map(() => 1),
  );
  assert.equal(ended.length, addresses.length);
});

test("a stopping replica gives back what it has not begun to send, and takes nothing new", async () => {
  const address = unique();
  const [claimed, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const mail = replica({
    findGroupAddresses: async (account, which) => {
      claimed.resolve();
      await resume.promise;
      return findGroupAddresses(platform.db, account, which);
    },
  });
  const group = await createGroup("stopped", [address]);
  await platform.db.transaction((tx) => mail.enqueue(tx, mailTo([], { toUserGroups: [group] })));
  await claimed.promise;
  const stopped = mail.stop();
  resume.resolve();
  await stopped;
  await platform.db.transaction((tx) => mail.enqueue(tx, mailTo([unique()])));
  await mail.sendDue();
  assert.deepEqual(
    (await rows()).map(({ last_error: error }) => error),
    [null, null],
  );
  assert.equal(received(address), 0);
  const other = replica();
  await other.sendDue();
  await other.idle();
  assert.deepEqual([received(address), ended.length], [1, 2]);
});

test("a slow mail server of one account does not delay the mails of another one", async () => {
  const resume = Promise.withResolvers<void>();
  const slow = { accountId, toUserGroups: [await createGroup("slow", [unique()])] };
  const mail = replica({
    findGroupAddresses: async (account, which) => {
      await resume.promise;
      return findGroupAddresses(platform.db, account, which);
    },
  });
  const other = fromWire((await platform.addAccount()).accountId) as Uuid;
  await platform.db.transaction(async (tx) => {
    for (let nth = 0; nth < 20; nth += 1) await mail.enqueue(tx, mailTo([], slow));
    await mail.enqueue(tx, mailTo([unique()], { accountId: other }));
  });
  await mail.sendDue();
  const reported = async (): Promise<MailOutcome | undefined> => {
    await platform.db.query("select 1");
    return lastOutcome();
  };
  assert.match(JSON.stringify(await eventually(reported)), /The account has no SMTP configuration/);
  assert.equal((await rows()).filter(({ tries }) => tries === 1).length, 4);
  resume.resolve();
  await mail.idle();
  assert.equal(ended.length, 21);
});

test("a cancelled mail is not sent, nor is its end reported", async () => {
  const mail = replica();
  const waiting = await enqueue(mail, mailTo(["busy@example.com"]));
  assert.equal(await platform.db.transaction((tx) => mail.cancel(tx, waiting)), "cancelled");
  assert.equal(await platform.db.transaction((tx) => mail.cancel(tx, waiting)), "ended");
  const address = unique();
  const one = mailTo([], { toUserGroups: [await createGroup("cancelled", [address])] });
  const cancelling = replica({
    findGroupAddresses: async (account, which) => {
      await platform.db.transaction((tx) => mail.cancel(tx, one));
      return findGroupAddresses(platform.db, account, which);
    },
  });
  await enqueue(cancelling, one);
  assert.deepEqual([received(address), ended, await rows()], [0, [], []]);
});

test("a mail that nothing waits for tells a failure to the audit trail only", async () => {
  const mail = replica();
  const address = unique();
  await enqueue(mail, mailTo([address], { fireAndForget: true }));
  const failed = await enqueue(mail, mailTo(["unknown@example.com"], { fireAndForget: true }));
  assert.deepEqual([received(address), ended, await rows()], [1, [], []]);
  const entries = await platform.db.query<{ difference: { after?: { message?: string } } }>(
    "select difference from audit_entries where operation = 'mail.fail'",
  );
  assert.equal(entries.length, 1);
  assert.match(JSON.stringify(entries), /no such mailbox/);
  assert.equal(await platform.db.transaction((tx) => mail.cancel(tx, failed)), "ended");
});

test("members of user groups get the mail, each once; too many, or none, fail it", async () => {
  const mail = replica();
  const [a, b] = [unique("a"), unique("b")];
  const inProject = await createGroup("testers", [a, b], "orgIdentifier=default&projectIdentifier=shop");
  await createGroup("leads", [b], "orgIdentifier=default");
  await enqueue(mail, mailTo([a], { toUserGroups: [inProject], ccUserGroups: ["org.leads"] }));
  assert.deepEqual(lastOutcome(), { kind: "sent", recipients: 2 });
  const sent = server.received.find(({ to }) => to.includes(b));
  assert.match(sent?.text ?? "", /To: .*testers:;\r\nCc: .*leads:;\r\n/);
  assert.ok(!sent?.text.includes(b));
  ended.length = 0;
  const everybody = Array.from({ length: 256 }, (_, nth) => `u${nth}@x.example.com`);
  const large = await createGroup("large", everybody);
  await enqueue(mail, mailTo([a], { toUserGroups: [large] }));
  assert.match(JSON.stringify(ended), /more than 256 recipients/);
  ended.length = 0;
  await enqueue(mail, mailTo([], { toUserGroups: [await createGroup("empty", [])] }));
  assert.match(JSON.stringify(ended), /have no members/);
});

/** Creates a group in the account, or in the scope of the query, and returns its reference there. */
async function createGroup(identifier: string, emails: readonly string[], scope = ""): Promise<string> {
  const { db, clock } = platform;
  const ids = emails.map(() => randomUUIDv7());
  await db.query(
    `insert into users (account_id, id, name, email, password_hash, must_change_password, created_at)
     select $1, id, email, email, '', false, $4 from unnest($2::uuid[], $3::text[]) as t (id, email)
     on conflict do nothing`,
    [accountId, ids, emails, clock.now()],
  );
  const found = await db.query<{ id: Uuid }>(
    "select id from users where account_id = $1 and email = any ($2::text[])",
    [accountId, emails],
  );
  const groupId = randomUUIDv7() as Uuid;
  const [org, project] = ["orgIdentifier", "projectIdentifier"].map((name) => new URLSearchParams(scope).get(name));
  await db.query(
    `insert into user_groups (account_id, id, org_identifier, project_identifier, identifier, name, description, tags,
                              externally_managed, external_id, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5, '', '{}', false, null, 1, $6, $6)`,
    [accountId, groupId, org, project, identifier, clock.now()],
  );
  for (const { id } of found)
    await db.query(
      "insert into user_group_members (account_id, group_id, user_id, created_at) values ($1, $2, $3, $4)",
      [accountId, groupId, id, clock.now()],
    );
  return scope === "" ? `account.${identifier}` : identifier;
}

test("a deleted project's mails are not sent, and a server without a configuration sends none", async () => {
  const mail = replica();
  await made(create.project(platform, projectYaml("gone")));
  const waiting = await enqueue(mail, mailTo(["busy@example.com"], { projectIdentifier: "gone" }));
  await made(platform.send("DELETE", "/ng/api/projects/gone?orgIdentifier=default"));
  assert.equal(await platform.db.transaction((tx) => mail.cancel(tx, waiting)), "ended");
  const { body } = await platform.send("GET", "/ng/api/smtpConfig");
  await made(platform.send("DELETE", `/ng/api/smtpConfig/${body.data.uuid}`));
  await enqueue(mail, mailTo(["ada@example.com"]));
  assert.match(JSON.stringify(ended), /The account has no SMTP configuration/);
  assert.deepEqual(failures, []);
});
