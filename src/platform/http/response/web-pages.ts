/**
 * Serves the web interface (docs/decisions/0044-web-interface.md): its page at `/` and at the addresses of its views, and its files, from the folder that
 * web/build/ has made. All are public: they hold no data. The files are read once and stay in memory (some 2 MB).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pageHeaders } from "./page-headers.ts";
import { encodingFor, isKnown } from "./static-files.ts";

/** Beginnings of the addresses of views. The scripts of the page know which view it is, and say if there is none. */
const VIEWS = [
  "/",
  "/projects",
  "/projects/*",
  "/account",
  "/account/*",
  "/profile",
  "/profile/*",
  "/tools/*",
  "/components",
];
/** Names of these files contain a hash of their content. */
const FOREVER = "public, max-age=31536000, immutable";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Texts become code nowhere: the browser refuses it even to scripts of this server. */
const HEADERS = {
  ...pageHeaders({ "img-src": "'self' data:", "require-trusted-types-for": "'script'", "trusted-types": "'none'" }),
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

type WebFile = { readonly type: string; readonly etag: string; readonly encoded: ReadonlyMap<string, Buffer> };
type WebFiles = ReadonlyMap<string, WebFile>;

/** `folder` resolves when the interface is built; its failure was logged by the caller. */
export function addWebPages(app: FastifyInstance, folder: Promise<string>): void {
  const files = folder.then(readFiles);
  files.catch(() => {});
  const serve = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> => {
    const found = await files.then(
      (all) => all.get(name) ?? "none",
      () => undefined,
    );
    if (found === undefined)
      return sendText(reply, 503, "The web interface could not be built. The server's log says why.");
    if (found === "none") return sendText(reply.header("cache-control", "no-store"), 404, "There is no such file.");
    return sendFile(request, reply, found, name.startsWith("assets/"));
  };
  for (const url of VIEWS)
    app.get(url, { exposeHeadRoute: true }, (request, reply) => serve(request, reply, "index.html"));
  app.get("/icon.svg", { exposeHeadRoute: true }, (request, reply) => serve(request, reply, "icon.svg"));
  app.get<{ Params: { "*": string } }>("/assets/*", { exposeHeadRoute: true }, (request, reply) =>
    serve(request, reply, `assets/${request.params["*"]}`),
  );
}

const sendText = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.headers(HEADERS).header("content-type", "text/plain; charset=utf-8").code(status).send(`${text}\n`);

function sendFile(request: FastifyRequest, reply: FastifyReply, file: WebFile, forever: boolean): FastifyReply {
  const { type, etag, encoded } = file;
  void reply
    .headers(HEADERS)
    .headers({ etag, vary: "accept-encoding", "cache-control": forever ? FOREVER : "no-cache", "content-type": type });
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const asked = encodingFor(request.headers["accept-encoding"]);
  const encoding = encoded.has(asked) ? asked : "identity";
  if (encoding !== "identity") void reply.header("content-encoding", encoding);
  return reply.send(encoded.get(encoding));
}

/** All files by their name below the folder: an address can name no other file. */
async function readFiles(folder: string): Promise<WebFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  const known = new Set(names);
  const found = names
    .filter((name) => Object.hasOwn(TYPES, path.extname(name)))
    .map(async (name) => [name.split(path.sep).join("/"), await readWebFile(folder, name, known)] as const);
  return new Map(await Promise.all(found));
}

async function readWebFile(folder: string, name: string, known: ReadonlySet<string>): Promise<WebFile> {
  const read = (suffix: string): Promise<Buffer> => readFile(path.join(folder, `${name}${suffix}`));
  const encoded = new Map([["identity", await read("")]]);
  for (const [encoding, suffix] of [
    ["br", ".br"],
    ["gzip", ".gz"],
  ] as const)
    if (known.has(`${name}${suffix}`)) encoded.set(encoding, await read(suffix));
  const hash = createHash("sha256")
    .update(encoded.get("identity") ?? "")
    .digest("base64url");
  return { type: TYPES[path.extname(name)] ?? "", etag: `W/"${hash.slice(0, 22)}"`, encoded };
}
