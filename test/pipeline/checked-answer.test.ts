/** Answers of the hand-made bundle with its truth check (make-tiny-check.py). */
import type { Pipeline } from '../../src/pipeline/compare.js';
import { addCheck, copyOfTiny } from '../model/tiny-bundle.js';
import { image, RED, removeLater, startTiny, WHITE } from './tiny-pipeline.js';

let pipeline: Pipeline;
beforeAll(async () => {
  const { modelsDir } = removeLater(await copyOfTiny(addCheck));
  pipeline = await startTiny({ modelsDir });
});
afterAll(() => pipeline?.close());

describe('A bundle with a truth check', () => {
  it('answers how probable its sentence is, part by part', async () => {
    const { finding } = await pipeline.compare({ before: await image(), after: await image([WHITE]) });
    expect(finding.caption).toBe('A white thing has appeared on the right.');
    expect(finding.check?.clauses).toHaveLength(1);
    const [clause] = finding.check?.clauses ?? [];
    expect(clause).toMatchObject({ text: 'a white thing has appeared on the right', regions: [1] });
    // The graph says 3 of a true sentence, 2 of a right part.
    expect(clause?.p).toBeCloseTo(1 / (1 + Math.exp(-3)));
    expect(clause?.facts.colour).toBeCloseTo(1 / (1 + Math.exp(-2)));
    expect(finding.check?.score).toBe(clause?.p);
  });

  it('doubts a word that the check does not see', async () => {
    const { finding } = await pipeline.compare({ before: await image(), after: await image([RED]) });
    // For the hand-made check everything is white.
    expect(finding.check?.clauses[0]?.facts.colour).toBeCloseTo(1 / (1 + Math.exp(2)));
  });

  it('has no check of an unchanged pair', async () => {
    const { finding } = await pipeline.compare({ before: await image(), after: await image([], 51) });
    expect(finding.verdict).not.toBe('change');
    expect(finding.check).toBeUndefined();
  });
});
