import { barrier } from "./barrier/module.ts";
import { customApproval } from "./custom-approval/module.ts";
import { email } from "./email/module.ts";
import { http } from "./http/module.ts";
import { platformApproval } from "./platform-approval/module.ts";
import { queue } from "./queue/module.ts";
import { shellScript } from "./shell-script/module.ts";
import type { StepModule } from "./step-module.ts";
import { wait } from "./wait/module.ts";

/** The step types that run. A further one is a folder beside `shell-script` and a line here. */
export const stepModules: readonly StepModule[] = [
  shellScript,
  http,
  wait,
  platformApproval,
  queue,
  barrier,
  email,
  customApproval,
];

const byType = new Map(stepModules.map((module) => [module.type, module]));

/** The module of a step that was read with the schema of the table. */
export function moduleOf(type: string): StepModule {
  const found = byType.get(type);
  if (!found) throw new Error(`no step type '${type}'`);
  return found;
}
