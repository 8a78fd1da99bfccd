import { BLACK, blend, Canvas, fromHue, LIGHT_GREY, lineHeight, textWidth, WHITE, wrapText, YELLOW } from './canvas.js';
import { GLYPH_WIDTH } from './font.js';
import { SANDBOX_LABEL, type SceneDescription, sceneHash } from './render-request.js';

/** Colours in one stripe of the background; five stripes and the inks stay below the 256 colours of a canvas. */
const STEPS_PER_STRIPE = 40;
const WATERMARK_TEXT = 'AI generated';

/** Where things stand on a card, in pixels. */
export interface CardLayout {
  /** Side of one font pixel. */
  readonly scale: number;
  readonly line: number;
  readonly margin: number;
  readonly headerHeight: number;
  /** Top of a strip that is kept free of text for a video's motion; its height is `motionHeight`. */
  readonly motionTop: number;
  readonly motionHeight: number;
}

/**
 * Paints what every sandbox image shows: a background derived from the scene, the label, the prompt, model, size and seed,
 * and further facts as far as there is room.
 *
 * @param motionHeight pixels to keep free for a video's moving parts; 0 for images.
 */
export function paintTitleCard(scene: SceneDescription, motionHeight: number): { canvas: Canvas; layout: CardLayout } {
  const { width, height } = scene;
  const canvas = new Canvas(width, height);
  paintBackground(canvas, sceneHash(scene, 'background'));

  const scale = Math.max(1, Math.round(Math.min(width, height * 1.6) / 520));
  const line = lineHeight(scale);
  const margin = line;
  const headerHeight = line * 2;
  const cells = Math.max(1, Math.floor((width - 2 * margin) / (GLYPH_WIDTH * scale)));
  const linesFree = Math.max(2, Math.floor((height - headerHeight - motionHeight - line * 3) / line));

  const facts = factLines(scene, cells, Math.max(2, Math.floor(linesFree / 2)));
  const factsTop = height - line * (facts.length + 2);
  const prompt = wrapText(scene.prompt, cells, Math.max(0, linesFree - facts.length));

  canvas.paint({ x: 0, y: 0, width, height: headerHeight }, canvas.ink(BLACK));
  canvas.write(wrapText(SANDBOX_LABEL, cells, 1)[0] ?? '', margin, line / 2, scale, canvas.ink(YELLOW));
  writeLines(canvas, prompt, { x: margin, y: headerHeight + line, scale, ink: canvas.ink(WHITE) });
  writeLines(canvas, facts, { x: margin, y: factsTop, scale, ink: canvas.ink(LIGHT_GREY) });
  if (scene.watermark) paintWatermark(canvas, scale);
  return {
    canvas,
    layout: { scale, line, margin, headerHeight, motionTop: factsTop - motionHeight, motionHeight },
  };
}

/** Horizontal stripes, each a gradient in steps that begin at whole macroblocks, so that videos stay small. */
function paintBackground(canvas: Canvas, hash: Uint8Array): void {
  const stripes = 3 + ((hash[0] ?? 0) % 3);
  const stripeHeight = Math.ceil(canvas.height / stripes / 16) * 16;
  const stepWidth = Math.ceil(canvas.width / STEPS_PER_STRIPE / 16) * 16;
  for (let stripe = 0; stripe < stripes; stripe++) {
    const [fromHueByte = 0, shade = 0, toHueByte = 0] = hash.subarray(stripe * 3 + 1);
    const from = fromHue(fromHueByte, 0.55, 0.3 + shade / 900);
    const to = fromHue(toHueByte, 0.6, 0.65);
    for (let x = 0; x < canvas.width; x += stepWidth) {
      const ink = canvas.ink(blend(from, to, x / canvas.width));
      canvas.paint({ x, y: stripe * stripeHeight, width: stepWidth, height: stripeHeight }, ink);
    }
  }
}

function factLines(scene: SceneDescription, cells: number, maxLines: number): string[] {
  const place = scene.count > 1 ? `, ${scene.index + 1} of ${scene.count}` : '';
  const first = `${scene.model} ${scene.width}x${scene.height} seed ${scene.seed}${place}`;
  const lines: string[] = [];
  for (const fact of [first, ...scene.facts]) {
    if (lines.length === maxLines) break;
    lines.push(...wrapText(fact, cells, maxLines - lines.length));
  }
  return lines;
}

function writeLines(
  canvas: Canvas,
  lines: readonly string[],
  at: { readonly x: number; readonly y: number; readonly scale: number; readonly ink: number },
): void {
  for (const [index, text] of lines.entries()) {
    canvas.write(text, at.x, at.y + index * lineHeight(at.scale), at.scale, at.ink);
  }
}

/** A framed word in the lower right corner, above the strip that a video's progress bar takes. */
function paintWatermark(canvas: Canvas, scale: number): void {
  const line = lineHeight(scale);
  const width = textWidth(WATERMARK_TEXT, scale) + line;
  const x = canvas.width - width - line / 2;
  const y = canvas.height - line * 3;
  canvas.paint({ x, y, width, height: line * 1.5 }, canvas.ink(BLACK));
  canvas.write(WATERMARK_TEXT, x + line / 2, y + line / 4, scale, canvas.ink(WHITE));
}
