/**
 * The token in a webhook's URL: the account's id and 192 random bits. It contains the account, because every query
 * names its account (invariant 7).
 */
import { randomBytes } from "node:crypto";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { hashSecret } from "../../platform/crypto/tokens.ts";

const ACCOUNT_LENGTH = 22;
const TOKEN = /^[A-Za-z0-9_-]{54}$/;

export const newWebhookToken = (accountId: Uuid): string =>
  `${toWire(accountId)}${randomBytes(24).toString("base64url")}`;

export const hashWebhookToken = hashSecret;

export const accountOfWebhookToken = (token: string): Uuid | undefined =>
  TOKEN.test(token) ? fromWire(token.slice(0, ACCOUNT_LENGTH)) : undefined;
