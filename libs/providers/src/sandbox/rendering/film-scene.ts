import { type Canvas, type Rectangle, textWidth } from './canvas.js';
import { fromHue, WHITE, YELLOW } from './colours.js';
import { SANDBOX_LABEL, type SceneDescription } from './render-request.js';
import { sceneHash } from './scene-hash.js';
import { type CardLayout, paintTitleCard } from './title-card.js';

const MACROBLOCK = 16;
const CLOCK_STEPS_PER_SECOND = 2;
const WIDEST_READING = '9999.5 s';

const roundUp = (pixels: number): number => Math.ceil(pixels / MACROBLOCK) * MACROBLOCK;
const roundDown = (pixels: number): number => Math.floor(pixels / MACROBLOCK) * MACROBLOCK;

/**
 * The moving picture: a title card on which a block crosses, a clock runs and a bar fills. All parts move on the grid of
 * macroblocks and only some frames change, which keeps films small.
 *
 * A frame looks the same whichever frames were drawn before it.
 */
export class FilmScene {
  readonly canvas: Canvas;
  readonly #card: Canvas;
  readonly #layout: CardLayout;
  readonly #blockInk: number;
  readonly #clockInk: number;
  readonly #barInk: number;
  readonly #leftward: boolean;
  /** What the moving parts last looked like; a part is drawn again only when its state changed. */
  #drawn: { block?: Rectangle; bar?: Rectangle; clock?: string } = {};

  constructor(
    scene: SceneDescription,
    readonly frameCount: number,
    readonly framesPerSecond: number,
  ) {
    const blockSide = Math.max(MACROBLOCK, roundUp(Math.min(scene.width, scene.height) / 14));
    const { canvas, layout } = paintTitleCard(scene, blockSide + 2 * MACROBLOCK);
    const [hue = 0, direction = 0] = sceneHash(scene, 'motion');
    this.canvas = canvas;
    this.#layout = layout;
    this.#leftward = direction % 2 === 1;
    this.#blockInk = canvas.ink(fromHue(hue, 0.8, 1));
    this.#clockInk = canvas.ink(WHITE);
    this.#barInk = canvas.ink(YELLOW);
    this.#card = canvas.clone();
  }

  /** Draws a frame (from 0) and returns the rectangles that changed since the last call. */
  draw(frame: number): Rectangle[] {
    return [...this.#drawBlock(frame), ...this.#drawClock(frame), ...this.#drawBar(frame)];
  }

  #drawBlock(frame: number): Rectangle[] {
    const side = this.#layout.motionHeight - 2 * MACROBLOCK;
    const steps = Math.max(0, Math.floor((this.canvas.width - side) / MACROBLOCK));
    const share = frame / Math.max(1, this.frameCount - 1);
    const x = Math.round((this.#leftward ? 1 - share : share) * steps) * MACROBLOCK;
    const previous = this.#drawn.block;
    if (previous?.x === x) return [];
    const block = { x, y: roundUp(this.#layout.motionTop), width: side, height: side };
    if (previous) this.canvas.restore(this.#card, previous);
    this.canvas.paint(block, this.#blockInk);
    this.#drawn.block = block;
    return previous ? [previous, block] : [block];
  }

  /** A picture too narrow for label and clock keeps the label. */
  #drawClock(frame: number): Rectangle[] {
    const { scale, line, margin, headerHeight } = this.#layout;
    const steps = Math.floor((frame / this.framesPerSecond) * CLOCK_STEPS_PER_SECOND);
    const reading = `${(steps / CLOCK_STEPS_PER_SECOND).toFixed(1)} s`.padStart(WIDEST_READING.length);
    if (this.#drawn.clock === reading) return [];
    const x = roundDown(this.canvas.width - margin - textWidth(WIDEST_READING, scale));
    const labelEnd = margin + textWidth(SANDBOX_LABEL, scale);
    if (x < labelEnd + margin) return [];
    const area = { x, y: 0, width: this.canvas.width - x, height: headerHeight };
    this.canvas.restore(this.#card, area);
    this.canvas.write(reading, x, line / 2, scale, this.#clockInk);
    this.#drawn.clock = reading;
    return [area];
  }

  #drawBar(frame: number): Rectangle[] {
    const columns = Math.ceil(this.canvas.width / MACROBLOCK);
    const width = Math.round(((frame + 1) / this.frameCount) * columns) * MACROBLOCK;
    const drawnWidth = this.#drawn.bar?.width ?? 0;
    if (width === drawnWidth) return [];
    const y = roundDown(this.canvas.height - this.#layout.line);
    const bar = { x: 0, y, width, height: this.canvas.height - y };
    const grown = { ...bar, x: drawnWidth, width: width - drawnWidth };
    this.canvas.paint(grown, this.#barInk);
    this.#drawn.bar = bar;
    return [grown];
  }
}
