/** Sets the clock of this process off, as on a machine whose time was never synchronised. */
export function skewClock(byMs: number): void {
  if (byMs === 0) return;
  const RealDate = Date;
  const now = (): number => RealDate.now() + byMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values: unknown[]) => Reflect.construct(target, values.length === 0 ? [now()] : values) as Date,
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
}
