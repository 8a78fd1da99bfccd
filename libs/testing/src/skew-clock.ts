/**
 * Sets the time of day of this process off by so many milliseconds, as a time server does, and as it is on a machine whose
 * time was never synchronised. What tells durations (`performance.now`) goes on. Answers how to set it right again.
 */
export function skewClock(byMs: number): () => void {
  const TrueDate = Date;
  const now = (): number => TrueDate.now() + byMs;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, values: unknown[]) => Reflect.construct(target, values.length === 0 ? [now()] : values) as Date,
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
  return () => (globalThis.Date = TrueDate);
}
