import { type Canvas, fromHue, type Rectangle, textWidth, WHITE, YELLOW } from './canvas.js';
import { SANDBOX_LABEL, type SceneDescription, sceneHash } from './render-request.js';
import { type CardLayout, paintTitleCard } from './title-card.js';

const MACROBLOCK = 16;
const CLOCK_STEPS_PER_SECOND = 2;
const WIDEST_READING = '9999.5 s';

const roundUp = (pixels: number): number => Math.ceil(pixels / MACROBLOCK) * MACROBLOCK;
const roundDown = (pixels: number): number => Math.floor(pixels / MACROBLOCK) * MACROBLOCK;

/**
 * The moving image: a title card on which a block crosses, a clock runs and a bar fills. All parts move on the grid of
 * macroblocks and only some frames change, which keeps videos small.
 *
 * A frame looks the same whichever frames were drawn before it: moving parts never overlap, and an image too small for a
 * part goes without it.
 */
export class VideoScene {
  readonly canvas: Canvas;
  private readonly card: Canvas;
  private readonly layout: CardLayout;
  private readonly blockInk: number;
  private readonly clockInk: number;
  private readonly barInk: number;
  private readonly leftward: boolean;
  // What the moving parts last looked like: a part is drawn again only when that changed.
  private drawnBlock: Rectangle | undefined;
  private drawnClock = '';
  private drawnBarWidth = 0;

  constructor(
    scene: SceneDescription,
    readonly frameCount: number,
    readonly framesPerSecond: number,
  ) {
    const blockSide = Math.max(MACROBLOCK, roundUp(Math.min(scene.width, scene.height) / 14));
    const { canvas, layout } = paintTitleCard(scene, blockSide + 2 * MACROBLOCK);
    const [hue = 0, direction = 0] = sceneHash(scene, 'motion');
    this.canvas = canvas;
    this.layout = layout;
    this.leftward = direction % 2 === 1;
    this.blockInk = canvas.ink(fromHue(hue, 0.8, 1));
    this.clockInk = canvas.ink(WHITE);
    this.barInk = canvas.ink(YELLOW);
    this.card = canvas.clone();
  }

  /** Draws a frame (from 0) and returns the rectangles that changed since the last call. */
  draw(frame: number): Rectangle[] {
    return [...this.drawBlock(frame), ...this.drawClock(frame), ...this.drawBar(frame)];
  }

  private drawBlock(frame: number): Rectangle[] {
    const { motionTop, motionHeight, headerHeight } = this.layout;
    if (motionTop < headerHeight) return [];
    const side = motionHeight - 2 * MACROBLOCK;
    const steps = Math.max(0, Math.floor((this.canvas.width - side) / MACROBLOCK));
    const share = frame / Math.max(1, this.frameCount - 1);
    const x = Math.round((this.leftward ? 1 - share : share) * steps) * MACROBLOCK;
    const previous = this.drawnBlock;
    if (previous?.x === x) return [];
    const block = { x, y: roundUp(motionTop), width: side, height: side };
    if (previous) this.canvas.restore(this.card, previous);
    this.canvas.paint(block, this.blockInk);
    this.drawnBlock = block;
    return previous ? [previous, block] : [block];
  }

  private drawClock(frame: number): Rectangle[] {
    const { scale, line, margin, headerHeight } = this.layout;
    const steps = Math.floor((frame / this.framesPerSecond) * CLOCK_STEPS_PER_SECOND);
    const reading = `${(steps / CLOCK_STEPS_PER_SECOND).toFixed(1)} s`.padStart(WIDEST_READING.length);
    if (this.drawnClock === reading) return [];
    const x = roundDown(this.canvas.width - margin - textWidth(WIDEST_READING, scale));
    const labelEnd = margin + textWidth(SANDBOX_LABEL, scale);
    if (x < labelEnd + margin) return [];
    const area = { x, y: 0, width: this.canvas.width - x, height: headerHeight };
    this.canvas.restore(this.card, area);
    this.canvas.write(reading, x, line / 2, scale, this.clockInk);
    this.drawnClock = reading;
    return [area];
  }

  private drawBar(frame: number): Rectangle[] {
    const { line, headerHeight } = this.layout;
    const y = roundDown(this.canvas.height - line);
    const columns = Math.ceil(this.canvas.width / MACROBLOCK);
    const width = Math.round(((frame + 1) / this.frameCount) * columns) * MACROBLOCK;
    const drawnWidth = this.drawnBarWidth;
    if (width === drawnWidth || y < headerHeight) return [];
    const grown = { x: drawnWidth, y, width: width - drawnWidth, height: this.canvas.height - y };
    this.canvas.paint(grown, this.barInk);
    this.drawnBarWidth = width;
    return [grown];
  }
}
