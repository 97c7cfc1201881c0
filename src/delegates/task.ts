import type { ConnectionTask, ShellTask } from "../../protocol/messages.ts";
import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";

/** What a task is for, in the words of whoever asked for it; handed back with its output and its end. */
export type TaskFor = {
  readonly accountId: Uuid;
  readonly runId: Uuid;
  readonly nodeId: Uuid;
  readonly attempt: number;
};

export type NewTask = TaskFor & {
  readonly selectors: readonly string[];
  readonly work: Work;
  /**
   * What the first task of a run queues up behind: those of the same queue start in their order, and other queues get their
   * turn in between. Null for a task that continues a run: it goes before all that have not begun.
   */
  readonly queueId: Uuid | null;
};

/** A test of a connection as it waits: the secrets by name only. They are read for the delegate that gets the task. */
export type StoredConnectionTask = Omit<ConnectionTask, "secrets"> & {
  readonly secrets: readonly string[];
  /** Where the connector lives that names them; servers of former versions open them from there. */
  readonly home: Place;
};

/** A secret that a step asks for: its text, or a file with its content. */
export type SecretUse = { readonly reference: string; readonly as: "value" | "file" };

/** Where a step stands that asks for secrets. */
export type SecretsHome = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly environmentRef: string;
};

/** A script as it waits: the secrets by name only. They are opened for the delegate that gets the task. */
export type StoredShellTask = Omit<ShellTask, "secrets" | "target"> & {
  readonly secrets?: {
    readonly home: SecretsHome;
    readonly uses: readonly SecretUse[];
    readonly env: readonly { readonly name: string; readonly parts: readonly (string | number)[] }[];
  };
  /** There are always secrets beside it, perhaps none by name: they say where the step stands. */
  readonly target?: {
    readonly host: string;
    readonly workingDirectory?: string;
    /** The reference of an SSH credential. */
    readonly credential: string;
  };
};

/** What a task does, as it is kept. */
export type Work = StoredShellTask | StoredConnectionTask;

/**
 * A secret that may be sent; `read` gives its bytes piece by piece. Until the first piece, which may be empty, a secret
 * manager may take seconds.
 */
export type OpenedSecret = {
  readonly id: Uuid;
  readonly size: number;
  readonly read: () => AsyncIterable<Buffer>;
};

/** Who logs in where, and the secrets that it takes to, which the credential names from its own `home`. */
export type OpenedLogin = {
  readonly id: Uuid;
  readonly home: Place;
  readonly port: number;
  readonly userName: string;
  readonly takes: readonly {
    readonly role: "password" | "key" | "passphrase";
    readonly reference: string;
    readonly secret: OpenedSecret;
  }[];
};

/** The secrets of one attempt on their way to the delegate that holds its task. `credential`: of a remote host. */
export type SecretDelivery = TaskFor & {
  readonly delegate: { readonly id: Uuid; readonly name: string };
  readonly home: SecretsHome;
  readonly uses: readonly SecretUse[];
  readonly credential: string | undefined;
};

/**
 * `secrets` are in the order of the uses. `confirm` is called when all of them have been opened and before the first byte is
 * sent. It checks the permissions again, and audits the delivery. Throws a Problem that names the secret and the reason.
 */
export type OpenedSecrets = {
  readonly confirm: () => Promise<void>;
  readonly secrets: readonly OpenedSecret[];
  readonly login: OpenedLogin | undefined;
};

/**
 * Finds all secrets of an attempt, if its execution may use each of them now; a refusal is audited. Throws a Problem that
 * names the secret and the reason, and so does reading one.
 */
export type OpenSecrets = (delivery: SecretDelivery) => Promise<OpenedSecrets>;

/** A test of a connection on its way to the delegate that holds its task. */
export type ConnectionDelivery = TaskFor & { readonly delegate: { readonly id: Uuid; readonly name: string } };

/**
 * Opens the secrets of a test, if those it is made for may use each of them now; audited before it answers. One that does
 * not exist is left out. Throws a Problem that names the secret and the reason.
 */
export type OpenConnection = (
  delivery: ConnectionDelivery,
) => Promise<readonly { readonly reference: string; readonly value: string }[]>;

export type TaskEnd =
  | {
      readonly kind: "exited";
      readonly exitCode: number;
      readonly outputs: readonly { readonly name: string; readonly value: string }[];
    }
  | { readonly kind: "cancelled"; readonly survivors: number | "unknown" }
  | {
      readonly kind: "tested";
      readonly fault: { readonly reason: string; readonly message: string; readonly code: number } | null;
    }
  | {
      readonly kind: "refused";
      readonly message: string;
      readonly type?: "Authorization" | "ConfigurationFailure";
    }
  | { readonly kind: "lost"; readonly type: "DelegateRestart" | "DelegateProvisioning"; readonly message: string };

/** Ports to whoever asked for the task; all run inside the transaction that takes the message. */
export type OnTaskOutput = (tx: Tx, task: TaskFor, bytes: Buffer) => Promise<void>;
export type EndTask = (task: TaskFor & { readonly delegateId: Uuid | null }, end: TaskEnd) => Promise<void>;
/**
 * Locks the run that a task belongs to and answers how to tell it the end. The
 * lock order everywhere is run before task: an abort comes down that way, so an
 * end may not come up the other. Undefined when there is no such run.
 */
export type LockRun = (accountId: Uuid, runId: Uuid) => Promise<EndTask | undefined>;
/**
 * Runs `work` in a transaction, and where a run cannot take an end, once more in another one, where the run ends for
 * that reason: a task's end is always taken. So `work` may be called twice.
 */
export type Advancing = <T>(work: (tx: Tx, lockRun: LockRun) => Promise<T>) => Promise<T>;
