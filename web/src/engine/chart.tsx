interface ChartProps {
  title: string;
  unit: string;
  /** The newest is last. */
  values: number[];
  latest?: number | undefined;
  format: (value: number) => string;
  /** What time the values cover. */
  span: string;
  /** Each value is a thing of its own, such as a step; otherwise they are points of a line. */
  bars?: boolean;
}

const width = 240;
const height = 56;

/** A small chart from zero to the highest value. */
export function Chart({ title, unit, values, latest, format, span, bars }: ChartProps) {
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  const last = latest ?? values[values.length - 1];
  const said = (value: number) => `${format(value)}${unit && ` ${unit}`}`;
  const label =
    last === undefined ? `${title}: no values yet` : `${title}: now ${said(last)}, at most ${said(highest)}, ${span}`;
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>
          {last === undefined ? "–" : format(last)} {last !== undefined && <small>{unit}</small>}
        </strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {values.length > 0 && <path class={bars ? "bars" : "line"} d={bars ? barPath(values, highest) : linePath(values, highest)} />}
      </svg>
      <small>
        {values.length > 0 ? `at most ${said(highest)}` : "no values yet"}
        <span>{bars && values.length > 0 ? `last ${values.length} steps` : ""}</span>
      </small>
    </figure>
  );
}

function y(value: number, highest: number): number {
  return height - (highest > 0 ? (value / highest) * (height - 2) : 0);
}

/** One path for all bars: hundreds of elements would have to be compared each second. */
export function barPath(values: number[], highest: number): string {
  const step = width / Math.max(values.length, 32);
  const left = width - step * values.length;
  return values
    .map((value, i) => {
      const from = (left + i * step).toFixed(2);
      return `M${from} ${height}V${y(value, highest).toFixed(2)}h${(step * 0.8).toFixed(2)}V${height}z`;
    })
    .join("");
}

export function linePath(values: number[], highest: number): string {
  const step = width / Math.max(values.length - 1, 30);
  const left = width - step * (values.length - 1);
  const points = values.map((value, i) => `${(left + i * step).toFixed(2)} ${y(value, highest).toFixed(2)}`);
  return `M${left.toFixed(2)} ${height}L${points.join("L")}L${width} ${height}z`;
}
