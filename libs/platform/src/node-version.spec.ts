import { nodeProblem } from './node-version.mjs';

describe('The oldest Node', () => {
  it.each(['16.20.2', '18.20.4', '20.18.3', '19.9.0'])(
    '%s gets one line that names the required version',
    (version) => {
      expect(nodeProblem(version)).toBe(`The gateway needs Node 20.19 or newer; this is Node ${version}.`);
    },
  );

  it.each(['20.19.0', '20.20.2', '21.0.0', '22.1.0', '24.11.1', '26.0.0-nightly'])('%s is supported', (version) => {
    expect(nodeProblem(version)).toBeNull();
  });
});
