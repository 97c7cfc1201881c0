/** What can be said against the host and the folder of a step that runs on another host, and what such a step cannot do. */
import { checkTemplate, folderFault, hostFault, secretsIn } from "../../engine/index.ts";
import { callersFaults } from "./callers-host.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";
import type { NodeField } from "./texts.ts";

type Found = { readonly offset: number; readonly message: string };

const FREE =
  "The author of a pipeline chooses the host that gets the login, not the person who runs it: add .allowedValues(…) with the hosts to choose from";

/** Of a host or a folder. What expressions make of one is looked at again when the run, and when the step starts. */
export function placeFaults(field: NodeField, value: string): readonly Found[] {
  const isHost = field.kind === "host";
  if (isMarker(value)) return isHost ? ofMarker(field, value) : [];
  const faults = checkTemplate(value, { mayAskSecrets: false });
  if (faults.length > 0) return faults;
  if (!value.includes("<+")) {
    const message = isHost ? hostFault(value) : folderFault(value);
    return message === undefined ? [] : [{ offset: 0, message }];
  }
  return isHost ? callersFaults(field.node, value) : [];
}

/** The host is one of the allowed values: each of them is looked at as if it stood there alone. */
function ofMarker(field: NodeField, value: string): readonly Found[] {
  const read = readMarker(value);
  if ("fault" in read) return [];
  if (!read.allowed || read.isMany) return [{ offset: 0, message: FREE }];
  const fault = read.allowed
    .filter((one) => !isMarker(one))
    .flatMap((one) => placeFaults(field, one))
    .at(0);
  return fault ? [{ offset: 0, message: fault.message }] : [];
}

const NO_FILES = {
  otherHost: "this step runs on another host",
  request: "a request has no files",
};

/** Files that a step would be given the path of, and could not read. */
export function unreadable({ kind, noFiles }: NodeField, value: string): readonly Found[] {
  if (kind !== "script" && kind !== "template") return [];
  if (!noFiles) return [];
  const message = `secrets.getAsFile gives the path of a file on the delegate, and ${NO_FILES[noFiles]}: use secrets.getValue`;
  return secretsIn(value).flatMap(({ as, offset }) => (as === "file" ? [{ offset, message }] : []));
}
