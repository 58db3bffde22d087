import { useEffect, useLayoutEffect, useRef, useState } from "../hooks";
import { cellLevels, countLevels, gridShape, levelOf, levels } from "./state";

const highest = 340;

/** The blocks of the cache in the order of their numbers, colored by how many sequences share each. */
export function Grid({ blocks, total, blockSize }: { blocks: number[]; total: number; blockSize: number }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const [pointed, setPointed] = useState<number>();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(frame.current!);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const repaint = () => setTheme((count) => count + 1);
    dark.addEventListener("change", repaint);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", repaint);
    };
  }, []);
  const shape = gridShape(blocks.length, width, highest);
  useLayoutEffect(() => {
    if (canvas.current && width > 0) paint(canvas.current, cellLevels(blocks, shape.blocksPerCell), shape.columns, shape.rows, shape.cell);
  }, [blocks, width, theme]);
  const counts = countLevels(blocks);
  const point = (event: PointerEvent) => {
    const column = Math.floor(event.offsetX / shape.cell);
    const cell = Math.floor(event.offsetY / shape.cell) * shape.columns + column;
    setPointed(column < shape.columns && cell * shape.blocksPerCell < blocks.length ? cell * shape.blocksPerCell : undefined);
  };
  return (
    <>
      <ul class="legend">
        {levels.map((name, level) => (
          <li key={name}>
            <span class={`swatch level-${level}`} aria-hidden="true" />
            {level > 2 ? `${name} sequences` : name}
            <strong>{counts[level]!.toLocaleString("en-US")}</strong>
          </li>
        ))}
      </ul>
      <div class="grid" ref={frame}>
        <canvas
          ref={canvas}
          role="img"
          aria-label="A square for each block; the figures above say how many there are of each kind."
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
        />
      </div>
      <p class="faint">
        {pointed !== undefined && pointed < blocks.length
          ? describe(pointed, blocks, shape.blocksPerCell)
          : `${total.toLocaleString("en-US")} blocks of ${blockSize} tokens` +
            (shape.blocksPerCell > 1 ? `; a square is ${shape.blocksPerCell} blocks, colored by the most shared one.` : ".")}
      </p>
    </>
  );
}

function describe(first: number, blocks: number[], count: number): string {
  const last = Math.min(first + count, blocks.length) - 1;
  if (last > first) return `Blocks ${first} to ${last}: used by at most ${Math.max(0, ...blocks.slice(first, last + 1))}.`;
  const users = blocks[first]!;
  const use = users > 0 ? `used by ${users} ${users === 1 ? "sequence" : "sequences"}` : levels[levelOf(users)];
  return `Block ${first}: ${users < 0 ? "kept for prompts that begin like it, otherwise idle" : use}.`;
}

function paint(canvas: HTMLCanvasElement, cells: number[], columns: number, rows: number, cell: number): void {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(columns * cell * scale);
  canvas.height = Math.ceil(rows * cell * scale);
  canvas.style.width = `${columns * cell}px`;
  canvas.style.height = `${rows * cell}px`;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  const colors = levels.map((_, level) => style.getPropertyValue(`--level-${level}`).trim());
  context.scale(scale, scale);
  const side = cell - (cell > 8 ? 2 : 1);
  cells.forEach((level, i) => {
    context.fillStyle = colors[level]!;
    context.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, side, side);
  });
}
