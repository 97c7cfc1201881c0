/**
 * Builds web/ into web/dist/<version>/ with compressed copies of each file, and prints the folder. The server starts it
 * as a process of its own (prepare.ts), because the bundler takes memory that the server would keep.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: build.ts <folder>");
const temporary = `${folder}.${process.pid}`;
const COMPRESSIBLE = /\.(?:js|css|html|svg|json)$/;

await build({
  configFile: path.join(import.meta.dirname, "../vite.config.ts"),
  logLevel: "warn",
  build: { outDir: temporary, emptyOutDir: true },
});
await compressAll(temporary);
await publish();

/** Quality 9: the last step would take three seconds for one percent. */
async function compressAll(root: string): Promise<void> {
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  await Promise.all(
    files
      .filter((file) => file.isFile() && COMPRESSIBLE.test(file.name))
      .map(async (file) => {
        const name = path.join(file.parentPath, file.name);
        const bytes = await readFile(name);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        await writeFile(`${name}.br`, await promisify(brotliCompress)(bytes, { params }));
        await writeFile(`${name}.gz`, await promisify(gzip)(bytes));
      }),
  );
}

/** Another server may have built the same version at the same time: the first one stays. */
async function publish(): Promise<void> {
  if (folder === undefined) return;
  await mkdir(path.dirname(folder), { recursive: true });
  await rename(temporary, folder).catch(async (error: unknown) => {
    await rm(temporary, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  });
}
