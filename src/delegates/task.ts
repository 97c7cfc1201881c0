/**
 * Tasks as the server stores them, with secrets by name only, and the callbacks with which later slices open secrets
 * and take output and ends.
 */
import type { ConnectionTask } from "../../protocol/work/connection.ts";
import type { ShellTask } from "../../protocol/work/shell.ts";
import type { ResolvedCluster } from "../connectors/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";

/** The attempt that a task belongs to; passed back with its output and its end. */
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
   * The queue of a run's first task: tasks of one queue start in their order, and other queues get turns in between.
   * Null for a task that continues a run: it comes before all runs that have not begun.
   */
  readonly queueId: Uuid | null;
};

/**
 * The stored form of a task's work, with secrets by name only. Only the module of its kind reads more of it (kinds/).
 * Without a version it is version 1.
 */
export type Work = {
  readonly kind: string;
  readonly version?: number | undefined;
  readonly [member: string]: unknown;
};

/** A stored connection test. Its secrets are opened for the delegate that gets the task. */
export type StoredConnectionTask = Omit<ConnectionTask, "secrets" | "version"> & {
  readonly secrets: readonly string[];
  /** Scope of the connector that names them; servers of earlier versions resolve them from there. */
  readonly home: Place;
};

/** A secret that a step uses, as a value or as a file. */
export type SecretUse = {
  readonly reference: string;
  readonly as: "value" | "file";
  /** The id of a secret output, which `reference` describes. */
  readonly output?: string;
};

/** Scope of a step that uses secrets, and its environment if its stage has one. */
export type SecretsHome = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly environmentRef?: string;
};

/** The secrets of a stored task; the work refers to each by its index in `uses`. */
export type StoredSecrets = { readonly home: SecretsHome; readonly uses: readonly SecretUse[] };

/** A stored script task. The version says which delegates can run it (protocol/work/shell.ts). */
export type StoredShellTask = Omit<ShellTask, "secrets" | "target" | "kubernetes" | "version"> & {
  readonly version?: 1 | 2;
  readonly secrets?: StoredSecrets & {
    readonly env: readonly { readonly name: string; readonly parts: readonly (string | number)[] }[];
  };
  /** Always comes with `secrets`, perhaps without uses, because they contain the step's scope. */
  readonly target?: {
    readonly host: string;
    readonly workingDirectory?: string;
    /** The reference of an SSH credential. */
    readonly credential: string;
  };
  /** Always comes with `secrets`, as a target does. */
  readonly kubernetes?: ClusterUse & { readonly namespace: string };
};

/** The cluster of a step: the reference of its connector, and the tags that the delegate has. */
export type ClusterUse = { readonly connector: string; readonly selectors: readonly string[] };

/**
 * A secret that may be sent; `read` opens it and yields its bytes in chunks. A secret manager may take seconds before
 * the first chunk, which may be empty.
 */
export type ResolvedSecret = {
  readonly id: Uuid;
  readonly size: number;
  readonly read: () => AsyncIterable<Buffer>;
};

/** A login on a host. `takes` has the secrets that it needs, named relative to the credential's scope `home`. */
export type ResolvedLogin = {
  readonly id: Uuid;
  readonly home: Place;
  readonly port: number;
  readonly userName: string;
  readonly takes: readonly {
    readonly role: "password" | "key" | "passphrase";
    readonly reference: string;
    readonly secret: ResolvedSecret;
  }[];
};

/**
 * Request for the secrets of one attempt and for the delegate that leases its task. `credential` is that of a remote
 * host.
 */
export type SecretDelivery = TaskFor & {
  readonly delegate: { readonly id: Uuid; readonly name: string };
  readonly home: SecretsHome;
  readonly uses: readonly SecretUse[];
  readonly credential: string | undefined;
  readonly cluster: ClusterUse | undefined;
};

/**
 * `secrets` are in the order of the uses. `confirm` is called after all of them were opened and before the first byte
 * is sent. It checks the permissions again and records the delivery. Throws a Problem that names the secret and the
 * reason.
 */
export type ResolvedSecrets = {
  readonly confirm: () => Promise<void>;
  readonly secrets: readonly ResolvedSecret[];
  readonly login: ResolvedLogin | undefined;
  readonly cluster: ResolvedCluster | undefined;
};

/**
 * Finds all secrets of an attempt, if its execution may use each of them now; a refusal is recorded. Throws a Problem
 * that names the secret and the reason, and so does reading one.
 */
export type ResolveSecrets = (delivery: SecretDelivery) => Promise<ResolvedSecrets>;

/** Request for the secrets of a connection test and for the delegate that leases its task. */
export type ConnectionDelivery = TaskFor & { readonly delegate: { readonly id: Uuid; readonly name: string } };

/**
 * Opens the secrets of a test, if its principals may use each of them now; records this before it returns. Omits a
 * secret that does not exist. Throws a Problem that names the secret and the reason.
 */
export type OpenTestSecrets = (
  delivery: ConnectionDelivery,
) => Promise<readonly { readonly reference: string; readonly value: string }[]>;

export type TaskEnd =
  | {
      readonly kind: "exited";
      readonly exitCode: number;
      readonly outputs: readonly { readonly name: string; readonly value: string }[];
    }
  /** The result of work that is no script, as this version of its kind defines it. */
  | { readonly kind: "completed"; readonly version: number; readonly result: unknown }
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

/** Callbacks to the slice that enqueued the task; all run inside the transaction that processes the message. */
export type OnTaskOutput = (tx: Tx, task: TaskFor, bytes: Buffer) => Promise<void>;
/** `delegateName`: of `delegateId`, where it is known without a statement. */
export type EndedTask = TaskFor & { readonly delegateId: Uuid | null; readonly delegateName?: string };
export type EndTask = (task: EndedTask, end: TaskEnd) => Promise<void>;
/**
 * Locks the run of a task and returns the function that reports its end; undefined without such a run. The lock order
 * is run before task everywhere, because an abort locks in this order.
 */
export type LockRun = (accountId: Uuid, runId: Uuid) => Promise<EndTask | undefined>;
/**
 * Runs `work` in a transaction. If the run cannot accept an end, it runs `work` again in another transaction, where
 * the run ends for that reason: the end of a task is always accepted. `work` may be called twice.
 */
export type Advancing = <T>(work: (tx: Tx, lockRun: LockRun) => Promise<T>) => Promise<T>;
