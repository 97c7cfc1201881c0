import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { Db } from "../../platform/db/db.ts";
import { ManagerFailed } from "../managers/kinds/kind.ts";
import { problem } from "../problems.ts";
import { findChunk, findContent, type ContentRow } from "../store/contents.ts";
import { managerProblem, type Vault } from "./vault.ts";

export type ReadDeps = { readonly db: Pick<Db, "query">; readonly vault: Vault };

/**
 * Yields the bytes of a content in chunks. The first chunk is empty and follows the opening of the data key. If the
 * data key is replaced meanwhile, reading continues with the content sealed again. Throws `secret.replaced` if the
 * secret is changed or deleted meanwhile, and `secret.unreadable`.
 */
export async function* readContent(
  deps: ReadDeps,
  accountId: Uuid,
  { name, content: first }: { readonly name: string; readonly content: ContentRow },
): AsyncGenerator<Buffer> {
  let content = first;
  let nth = 0;
  let isMissing = false;
  const chunk = async (at: number): Promise<Buffer> => {
    const sealed = await findChunk(deps.db, accountId, { contentId: content.id, nth: at });
    isMissing = sealed === undefined;
    return sealed ?? Buffer.alloc(0);
  };
  for (;;) {
    try {
      for await (const bytes of deps.vault.open(accountId, content, chunk, nth)) {
        // The first chunk is empty and does not belong to the content.
        nth += Math.min(1, bytes.length);
        yield bytes;
      }
      return;
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof ManagerFailed) throw managerProblem(error, name);
      const now = isMissing ? await findContent(deps.db, accountId, content.secretId) : content;
      // The content is unchanged, so the chunk was lost and not replaced.
      if (now?.id === content.id) throw problem("secret.unreadable", [name], { cause: error });
      if (now?.originId !== content.originId) throw problem("secret.replaced", [name], { retryAfter: 1 });
      content = now;
    }
  }
}
