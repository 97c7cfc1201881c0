import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Rgb = readonly [number, number, number];
type Theme = "light" | "dark";
const THEMES = ["light", "dark"] as const;

const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");
const tint = Number(/--status-tint: (\d+)%/.exec(css)?.[1]) / 100;

const TEXTS = ["--color-text", "--color-text-secondary", "--color-text-muted", "--color-link"];
const STATUSES = [...css.matchAll(/(--status-(?!tint)\w+):/g)].map(([, name = ""]) => name);
const SURFACES = ["--color-canvas", "--color-surface", "--color-surface-raised", "--color-surface-sunken"];
const ROWS = ["--color-hover", "--color-active", "--color-selected"];

/** Level AA of WCAG 2.2 for text, and for borders of controls and other shapes. */
const TEXT_CONTRAST = 4.5;
const SHAPE_CONTRAST = 3;

test("texts are readable on each surface", () => {
  for (const theme of THEMES)
    for (const text of [...TEXTS, ...STATUSES])
      for (const surface of [...SURFACES, ...ROWS])
        assertContrast(theme, text, colour(surface, theme), TEXT_CONTRAST, surface);
});

test("a status is readable on its tint", () => {
  assert.equal(STATUSES.length, 11);
  for (const theme of THEMES)
    for (const status of [...STATUSES, "--color-text-secondary"])
      for (const surface of [...SURFACES, "--color-hover", "--color-selected"]) {
        const tinted = mix(colour(status, theme), colour(surface, theme), tint);
        assertContrast(theme, status, tinted, TEXT_CONTRAST, `its tint on ${surface}`);
      }
});

test("output in logs is readable in its colours, on grounds of colours and where a search has hit", () => {
  const hues = [...css.matchAll(/(--ansi-(?!tint)\w+):/g)].map(([, name = ""]) => name);
  assert.equal(hues.length, 9);
  const ground = Number(/--ansi-tint: (\d+)%/.exec(css)?.[1]) / 100;
  for (const theme of THEMES) {
    assertContrast(theme, "--color-text", colour("--color-hit", theme), TEXT_CONTRAST, "--color-hit");
    for (const surface of ["--color-surface-sunken", "--color-hover", "--color-selected"])
      for (const hue of hues) {
        const below = colour(surface, theme);
        assertContrast(theme, hue, below, TEXT_CONTRAST, surface);
        const tinted = mix(colour(hue, theme), below, ground);
        assertContrast(theme, "--color-text", tinted, TEXT_CONTRAST, `${hue} on ${surface}`);
      }
  }
});

test("a button's text is readable on the button", () => {
  for (const theme of THEMES)
    for (const button of ["--color-accent", "--color-accent-hover", "--color-danger", "--color-danger-hover"])
      assertContrast(theme, "--color-on-accent", colour(button, theme), TEXT_CONTRAST, button);
});

test("borders of controls and the focus ring stand out from each surface", () => {
  for (const theme of THEMES)
    for (const line of ["--color-border-strong", "--color-focus"])
      for (const surface of SURFACES) assertContrast(theme, line, colour(surface, theme), SHAPE_CONTRAST, surface);
});

function assertContrast(theme: Theme, name: string, ground: Rgb, least: number, on: string): void {
  const ratio = contrast(colour(name, theme), ground);
  assert.ok(ratio >= least, `${theme}: ${name} on ${on} has ${ratio.toFixed(2)}, less than ${least}`);
}

function colour(name: string, theme: Theme): Rgb {
  const value = new RegExp(`${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(css);
  const hex = value?.[3] ?? value?.[theme === "light" ? 1 : 2];
  assert.ok(hex, `tokens.css has no colour ${name}`);
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

const mix = (top: Rgb, ground: Rgb, share: number): Rgb =>
  top.map((value, i) => value * share + (ground[i] ?? 0) * (1 - share)) as unknown as Rgb;

function contrast(a: Rgb, b: Rgb): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

/** The relative luminance of WCAG 2.2. */
function luminance(rgb: Rgb): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
