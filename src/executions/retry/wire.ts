/** Retries in the shapes of the REST family. */
import { z } from "zod";
import { instanceIdentifier, nameOf } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type { RetryRow } from "../store/retries.ts";
import { restStatus } from "../wire/status.ts";
import type { RetryStages } from "./read.ts";

const maybe = <T extends z.ZodType>(shape: T) => shape.nullable();
const id = (uuid: string): string => toWire(uuid as Uuid);

export const retryStagesShape = z.strictObject({
  isResumable: z.boolean(),
  errorMessage: maybe(z.string()),
  groups: z.array(
    z.strictObject({
      info: z.array(
        z.strictObject({
          name: z.string(),
          identifier: z.string(),
          status: z.string(),
          createdAt: maybe(epochMs),
          parentId: wireId,
          nextId: maybe(wireId),
        }),
      ),
    }),
  ),
});

export function retryStages({ why, places }: RetryStages): z.input<typeof retryStagesShape> {
  return {
    isResumable: why === undefined,
    errorMessage: why === undefined ? null : `The execution cannot be retried: ${why}.`,
    groups: places.map(({ members }, nth) => ({
      info: members.map(({ definition, node, parent }) => ({
        name: node ? nameOf(definition, node) : definition.name,
        identifier: node ? instanceIdentifier(definition, node) : definition.identifier,
        status: node ? restStatus(node.status) : "NotStarted",
        createdAt: node?.startedAt ?? null,
        parentId: id(parent),
        nextId: nextOf(places[nth + 1]),
      })),
    })),
  };
}

const nextOf = (place: RetryStages["places"][number] | undefined): string | null =>
  place ? id(place.definition) : null;

export const retryHistoryShape = z.strictObject({
  errorMessage: maybe(z.string()),
  latestExecutionId: wireId,
  executionInfos: z.array(
    z.strictObject({ uuid: wireId, startTs: maybe(epochMs), endTs: maybe(epochMs), status: z.string() }),
  ),
});

export const latestShape = retryHistoryShape.omit({ executionInfos: true });

const NOT_RETRIED = "The execution has not been retried.";

export const latestExecution = (asked: string, rows: readonly RetryRow[]): z.input<typeof latestShape> => ({
  errorMessage: rows.length > 1 ? null : NOT_RETRIED,
  latestExecutionId: rows[0] ? id(rows[0].id) : asked,
});

export const retryHistory = (asked: string, rows: readonly RetryRow[]): z.input<typeof retryHistoryShape> => ({
  ...latestExecution(asked, rows),
  executionInfos: rows.map((row) => ({
    uuid: id(row.id),
    startTs: row.startedAt,
    endTs: row.endedAt,
    status: restStatus(row.status),
  })),
});
