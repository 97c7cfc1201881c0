import type { FastifyRequest } from "fastify";
import { checkFormLength, readForm, type Form, type FormRooms, type FormTexts } from "./form.ts";
import { problem } from "../problems.ts";
import { mediaType } from "./read-bytes.ts";

/**
 * Runs the handler of a request whose body is a form. The form is read at most once, when the handler calls for it,
 * and is released after `run`.
 */
export async function withForm<T>(
  { texts, maxFile, callers }: FormRooms & { readonly texts: FormTexts },
  request: FastifyRequest,
  run: (read: () => Promise<Form>) => Promise<T>,
): Promise<T> {
  let form: Promise<Form> | undefined;
  const read = async (): Promise<Form> => {
    const type = mediaType(request);
    if (type !== "multipart/form-data") throw problem("http.bad_content_type", [type]);
    checkFormLength(request.headers["content-length"], texts, maxFile);
    return (form ??= readForm(request, { texts, maxFile, room: callers }));
  };
  try {
    return await run(read);
  } finally {
    form?.then((held) => held.release()).catch(() => undefined);
  }
}

/** The reader of a route without a form. */
export const noForm = (): Promise<never> => Promise.reject(new Error("the route is declared without a form"));
