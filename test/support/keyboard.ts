/** A person without a pointer, for browser tests: every element is reached by keys. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";

export type Keyboard = {
  /** Tabs from where the focus is until the element has it. Fails if a round over the page does not reach it. */
  readonly reach: (element: Locator) => Promise<void>;
  /** Reaches the element, and presses Enter. */
  readonly press: (element: Locator) => Promise<void>;
  /** Reaches a text field or an editor, and replaces its text. */
  readonly type: (element: Locator, text: string) => Promise<void>;
  /** Reaches a native list of choices, and types the beginning of a choice. */
  readonly choose: (element: Locator, text: string) => Promise<void>;
  /** Moves with the arrow from entry to entry of an open menu until the entry has the focus, and presses Enter. */
  readonly pick: (entry: Locator, arrow: "ArrowDown" | "ArrowRight") => Promise<void>;
  /** Reaches the tabs, and opens one. */
  readonly openTab: (name: string | RegExp) => Promise<void>;
  /** Opens a page, a pipeline or an execution with the command palette. */
  readonly goTo: (name: string | RegExp, words?: string) => Promise<void>;
};

/** More stops than any page has. */
const MAX_STOPS = 200;

export function keyboardOf(page: Page): Keyboard {
  const reach = async (element: Locator): Promise<void> => {
    await element.waitFor();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      if (await hasFocus(element)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not lead to ${String(element)} on ${page.url()}`);
  };
  const pick: Keyboard["pick"] = async (entry, arrow) => {
    await entry.waitFor();
    for (let moves = 0; !(await hasFocus(entry)); moves += 1) {
      assert.ok(moves < MAX_STOPS, `${arrow} does not lead to ${String(entry)}`);
      await page.keyboard.press(arrow);
    }
    await page.keyboard.press("Enter");
  };
  const type = async (element: Locator, text: string): Promise<void> => {
    await reach(element);
    await page.keyboard.press("Control+a");
    // Text inserted over a selection would take its style in an editor, which the policy of the page blocks.
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
  };
  return {
    reach,
    press: async (element) => {
      await reach(element);
      await page.keyboard.press("Enter");
    },
    type,
    pick,
    openTab: async (name) => {
      const tab = page.getByRole("tab", { name });
      await reach(page.getByRole("tablist").filter({ has: tab }).getByRole("tab", { selected: true }));
      await pick(tab, "ArrowRight");
    },
    choose: async (element, text) => {
      await reach(element);
      await page.keyboard.type(text);
    },
    goTo: async (name, words = String(name)) => {
      await page.keyboard.press("Control+k");
      const palette = page.getByRole("dialog", { name: "Go to" });
      await palette.getByRole("combobox").waitFor();
      await page.keyboard.type(words);
      const entry = palette.getByRole("option", { name }).first();
      await entry.waitFor();
      for (let moves = 0; (await entry.getAttribute("aria-selected")) !== "true"; moves += 1) {
        assert.ok(moves < MAX_STOPS, `arrows do not lead to ${String(entry)}`);
        await page.keyboard.press("ArrowDown");
      }
      await page.keyboard.press("Enter");
      await palette.waitFor({ state: "detached" });
    },
  };
}

const hasFocus = (element: Locator): Promise<boolean> => element.evaluate((one) => one.matches(":focus"));
