/** A delegate as REST answers and event streams contain it. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { epochMs, wireId } from "../platform/http/response/shapes.ts";
import { DELEGATE_STATUSES, unavailableReason, type ListedDelegate } from "./delegate.ts";

export const delegateShape = z.strictObject({
  uuid: wireId,
  accountId: wireId,
  delegateName: z.string(),
  delegateGroupIdentifier: z.string(),
  delegateType: z.literal("SHELL_SCRIPT"),
  hostName: z.string(),
  tags: z.array(z.string()),
  version: z.string(),
  tokenName: z.string(),
  status: z.enum(DELEGATE_STATUSES),
  connected: z.boolean(),
  unavailableReason: z.string().nullable(),
  lastHeartBeat: epochMs,
  createdAt: epochMs,
  slots: z.int(),
  slotsInUse: z.int().describe("Tasks that it runs now."),
});

export const delegateWire = (delegate: ListedDelegate): z.output<typeof delegateShape> => ({
  uuid: toWire(delegate.id),
  accountId: toWire(delegate.accountId),
  delegateName: delegate.name,
  delegateGroupIdentifier: delegate.name,
  delegateType: "SHELL_SCRIPT",
  hostName: delegate.host,
  tags: [...delegate.tags],
  version: delegate.version,
  tokenName: delegate.tokenName,
  status: delegate.status,
  connected: delegate.connected,
  unavailableReason: unavailableReason(delegate),
  lastHeartBeat: delegate.seenAt,
  createdAt: delegate.createdAt,
  slots: delegate.slots,
  slotsInUse: delegate.slotsInUse,
});
