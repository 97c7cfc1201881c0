import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { Db } from "../../platform/db/db.ts";
import { ManagerFailed } from "../managers/kinds/kind.ts";
import { problem } from "../problems.ts";
import { findChunk, findContent, type ContentRow } from "../store/contents.ts";
import { managerProblem, type Vault } from "./vault.ts";

export type ReadDeps = { readonly db: Pick<Db, "query">; readonly vault: Vault };

/**
 * The bytes of a content, piece by piece. When its data key is replaced while it is read, reading goes on in what took
 * its place. An empty piece comes once the secret manager has opened the data key. Throws `secret.replaced` when the secret is changed or deleted meanwhile, `secret.unreadable`.
 */
export async function* readContent(
  deps: ReadDeps,
  accountId: Uuid,
  name: string,
  first: ContentRow,
): AsyncGenerator<Buffer> {
  let [content, nth, gone] = [first, 0, false];
  const chunk = async (at: number): Promise<Buffer> => {
    const sealed = await findChunk(deps.db, accountId, content.id, at);
    gone = sealed === undefined;
    return sealed ?? Buffer.alloc(0);
  };
  for (;;) {
    try {
      for await (const piece of deps.vault.open(accountId, content, chunk, nth)) {
        // The first piece is empty and is none of the content.
        nth += Math.min(1, piece.length);
        yield piece;
      }
      return;
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof ManagerFailed) throw managerProblem(error, name);
      const now = gone ? await findContent(deps.db, accountId, content.secretId) : content;
      // The content is still the one that is read: the piece was lost, not replaced.
      if (now?.id === content.id) throw problem("secret.unreadable", [name], { cause: error });
      if (now?.originId !== content.originId) throw problem("secret.replaced", [name], { retryAfter: 1 });
      content = now;
    }
  }
}
