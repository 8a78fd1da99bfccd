import type { router as consoleRouter } from '../router';

const NAME = 'console.scroll';
/** How long a page may take to become as long as it was, in milliseconds. */
const PATIENCE_MS = 5_000;
const MOST_PLACES = 100;
const HANDS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/**
 * Takes readers who come back to a page, or load it again, to where they were: also when what they looked at has to be
 * read first. Whoever moves by hand meanwhile stays there.
 */
export function keepScroll(router: typeof consoleRouter): void {
  const tops = read();
  let place = placeOf(router.latestLocation);
  let path = router.latestLocation.pathname;
  let wanted: number | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const letGo = () => {
    clearTimeout(patience);
    wanted = undefined;
  };
  const reach = () => {
    if (wanted !== undefined && scrollY !== wanted) scrollTo({ top: wanted, behavior: 'instant' });
  };
  const arrive = (next: string) => {
    letGo();
    place = next;
    wanted = tops.get(next);
    if (wanted !== undefined) patience = setTimeout(letGo, PATIENCE_MS);
  };
  arrive(place);
  const note = (at: string) => {
    if (wanted === undefined) tops.set(at, scrollY);
  };
  router.subscribe('onBeforeNavigate', ({ toLocation }) => {
    const next = placeOf(toLocation);
    // Not by the router's own word for it, which compares with the page before for as long as one is being loaded.
    const isSamePage = toLocation.pathname === path;
    path = toLocation.pathname;
    if (next !== place) note(place);
    // Another filter, or a drawer that opens, moves nothing.
    if (next !== place && isSamePage && !tops.has(next)) tops.set(next, wanted ?? scrollY);
    arrive(next);
  });
  router.subscribe('onRendered', reach);
  new ResizeObserver(reach).observe(document.body);
  for (const hand of HANDS) addEventListener(hand, letGo, { passive: true });
  // The entry may have been replaced without a navigation.
  addEventListener('scroll', () => note(entryKey() ?? place), { passive: true });
  addEventListener('pagehide', () => write(tops));
}

/** Each entry of the history is a place of its own. */
const placeOf = ({ state, href }: { readonly state: { readonly __TSR_key?: string }; readonly href: string }): string =>
  state.__TSR_key ?? href;

const entryKey = (): string | undefined => (history.state as { __TSR_key?: string } | null)?.__TSR_key;

function read(): Map<string, number> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(NAME) ?? '[]') as [string, number][]);
  } catch {
    return new Map();
  }
}

function write(tops: ReadonlyMap<string, number>): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify([...tops].slice(-MOST_PLACES)));
  } catch {
    // A browser that keeps nothing begins at the top.
  }
}
