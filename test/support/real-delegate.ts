/** A delegate in the process of the test, connected to a test platform. */
import { type Delegate, startDelegate } from "../../delegate/delegate.ts";
import { type Place, QUICK, silentLog } from "../../delegate/testing/kit.ts";
import { systemTimers } from "../../delegate/timers.ts";
import type { TestPlatform } from "./platform.ts";

/** Its tag is its name, `real`. */
export const startRealDelegate = async (platform: TestPlatform, { path }: Place): Promise<Delegate> =>
  startDelegate(
    {
      socketUrl: `${platform.url.replace("http", "ws")}/delegate/connect`,
      token: await platform.delegateToken(),
      name: "real",
      tags: ["real"],
      workDir: path,
      slots: 4,
      stepUser: undefined,
      stepPath: undefined,
      belongsTo: undefined,
    },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
