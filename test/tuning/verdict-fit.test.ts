import fc from 'fast-check';
import { logitOf, sigmoid } from '../../src/logistic.js';
import { applyFit, fitCameras, fitVerdict, type JudgedAlarm, recalibrated } from '../../src/tuning/verdict-fit.js';

const calibration = {
  change: { scale: 2, offset: -1 },
  threshold: 0.5,
  operating_points: [
    { false_alarm_rate: 0.001, threshold: 0.95 },
    { false_alarm_rate: 0.05, threshold: 0.5 },
  ],
  nuisances: {},
};
const alarms = (count: number, confidence: number, changed: boolean, camera = 'gate'): JudgedAlarm[] =>
  Array.from({ length: count }, () => ({ camera, confidence, changed }));
/** The probability by the bundle that reaches the threshold after the fit. */
const border = (fit: { slope: number; offset: number }) =>
  sigmoid((logitOf(calibration.threshold) - fit.offset) / fit.slope);

describe('fitVerdict', () => {
  it('raises the threshold above false alarms of low probability', () => {
    const fit = fitVerdict([...alarms(30, 0.99, true), ...alarms(30, 0.6, false)], calibration);
    expect(fit).not.toBeNull();
    if (fit === null) return;
    expect(recalibrated(0.6, fit)).toBeLessThan(0.5);
    expect(recalibrated(0.99, fit)).toBeGreaterThan(0.5);
  });

  it('learns nothing from too little, from right alarms alone, or if the threshold would fall', () => {
    expect(fitVerdict(alarms(5, 0.6, false), calibration)).toBeNull();
    expect(fitVerdict(alarms(500, 0.6, true), calibration)).toBeNull();
    expect(fitVerdict([...alarms(500, 0.51, true), ...alarms(5, 0.99, false)], calibration)).toBeNull();
  });

  it('stops at the strictest operating point if all alarms are false', () => {
    const fit = fitVerdict(alarms(5_000, 0.999, false), calibration);
    expect(fit && border(fit)).toBeCloseTo(0.95, 6);
  });

  it('never lowers the threshold, nor loses more than 3 % of the right alarms', () => {
    const one = fc.record({ confidence: fc.double({ min: 0.5, max: 1, noNaN: true }), changed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(one, { minLength: 20, maxLength: 80 }), (made) => {
        const ofGate = made.map((alarm) => ({ ...alarm, camera: 'gate' }));
        const fit = fitVerdict(ofGate, calibration);
        if (fit === null) return;
        expect(border(fit)).toBeGreaterThanOrEqual(0.5 - 1e-6);
        const right = ofGate.filter(({ changed }) => changed);
        const lost = right.filter(({ confidence }) => confidence < border(fit) - 1e-6);
        expect(lost.length).toBeLessThanOrEqual(0.03 * right.length);
      }),
    );
  });
});

describe('applyFit', () => {
  it('gives the logits of the graph the recalibrated probability', () => {
    const fit = { slope: 0.8, offset: -0.5 };
    const next = applyFit(calibration, fit);
    const before = sigmoid(calibration.change.scale * 1.7 + calibration.change.offset);
    expect(sigmoid(next.change.scale * 1.7 + next.change.offset)).toBeCloseTo(recalibrated(before, fit), 5);
    expect(next.operating_points[0]?.threshold).toBeCloseTo(recalibrated(0.95, fit), 5);
    expect(next.threshold).toBe(0.5);
  });
});

describe('fitCameras', () => {
  it('raises the threshold of the camera with false alarms alone', () => {
    const found = fitCameras(
      [...alarms(20, 0.7, false, 'yard'), ...alarms(5, 0.99, true, 'yard'), ...alarms(30, 0.7, true)],
      calibration,
    );
    expect(Object.keys(found)).toEqual(['yard']);
    expect(found.yard).toBeGreaterThan(0.5);
    expect(found.yard).toBeLessThanOrEqual(0.95);
  });

  it('leaves a camera with little feedback, and feedback without a camera', () => {
    expect(fitCameras([...alarms(9, 0.7, false, 'yard'), ...alarms(50, 0.7, false, '')], calibration)).toEqual({});
  });
});
