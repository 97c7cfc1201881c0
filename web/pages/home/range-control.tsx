import { SegmentedControl } from "../../ui/radio-group.tsx";
import { RANGES, type Range } from "./home-search.ts";

const OPTIONS = RANGES.map((days) => ({ value: String(days), label: `${days} days` }));

type RangeControlProps = { readonly value: Range; readonly onChange: (days: string) => void };

export const RangeControl = ({ value, onChange }: RangeControlProps) => (
  <SegmentedControl label="Range of the charts" options={OPTIONS} value={String(value)} onChange={onChange} />
);
