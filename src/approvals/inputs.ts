import { ruleFault } from "../steps/platform-approval/approver-input.ts";
import type { Approval } from "./approval.ts";
import { toWire } from "../core/ids.ts";
import { problem } from "./problems.ts";

export type GivenInput = { readonly name: string; readonly value: string };

/**
 * The inputs of an approval, with defaults where none is given. Throws `approval.unknown_input`, `approval.input_twice`,
 * `approval.input_required` and `approval.bad_input`.
 */
export function checkedInputs({ id, request }: Approval, given: readonly GivenInput[]): readonly GivenInput[] {
  const values = new Map<string, string>();
  for (const { name, value } of given) {
    if (!request.inputs.some((input) => input.name === name))
      throw problem("approval.unknown_input", [toWire(id), name]);
    if (values.has(name)) throw problem("approval.input_twice", [name]);
    values.set(name, value);
  }
  return request.inputs.map(({ name, defaultValue, required, rule }) => {
    const value = values.get(name) ?? defaultValue;
    if (value === "" && required) throw problem("approval.input_required", [name]);
    const fault = value === "" ? undefined : ruleFault(value, rule);
    if (fault !== undefined) throw problem("approval.bad_input", [name, fault]);
    return { name, value };
  });
}
