import { InFlight } from './in-flight.js';
import { metricsRegistry } from './registry.js';

describe('What goes on now', () => {
  it('is told by label as it stands when the series are asked for, down to none', async () => {
    const shown = () => metricsRegistry.getSingleMetricAsString('test_in_flight');
    const visits = new InFlight('test_in_flight', 'Visits.', 'room');
    visits.begin('hall');
    visits.begin('hall');
    visits.begin('yard');
    visits.end('yard');
    expect(await shown()).toContain('test_in_flight{room="hall"} 2\ntest_in_flight{room="yard"} 0');
    visits.end('hall');
    expect(await shown()).toContain('test_in_flight{room="hall"} 1');
  });
});
