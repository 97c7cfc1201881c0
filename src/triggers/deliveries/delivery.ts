import type { Uuid } from "../../core/ids.ts";
import type { Delivery, DeliveryState } from "../trigger.ts";

/** A delivery in a list. */
export type ListedDelivery = DeliveryState &
  Pick<Delivery, "id" | "correlationId" | "receivedAt"> & {
    readonly processedAt: number | null;
    /** 0 if it was not stored, as for a disabled trigger. */
    readonly payloadBytes: number;
    /** The correlation id of the delivery that it repeats. */
    readonly replayOf: string | null;
  };

export type StoredDelivery = ListedDelivery & {
  readonly headers: Readonly<Record<string, string>>;
  /** As much of it as was asked for. */
  readonly payload: string;
  readonly isPayloadComplete: boolean;
};

export type DeliveryPage = { readonly items: readonly ListedDelivery[]; readonly next: Uuid | undefined };
