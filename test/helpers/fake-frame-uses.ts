/** Uses of frames in memory (stores/blobs/frame-uses.ts), read from the other fakes. */
import type { FakeCameras, FakeResults } from './fake-stores.js';

export class FakeFrameUses {
  /** hashes that erasures left */
  readonly queued: string[] = [];
  constructor(
    private readonly results: FakeResults,
    private readonly cameras: FakeCameras,
  ) {}
  async ofCamera(id: string) {
    const { before, backgrounds } = this.cameras.states.get(id) ?? {};
    const ordered = this.cameras.orders.flatMap(({ id: of, event }) =>
      of === id && event.type === 'baseline.set' ? [event.frame] : [],
    );
    const stored = Object.values(backgrounds ?? {}).map(({ frame }) => frame);
    const frames = [this.cameras.kept.get(id)?.reference, before?.frame, ...stored, ...ordered];
    return new Set(frames.flatMap((frame) => frame?.sha256 ?? []));
  }
  async inComparisons(hashes: ReadonlySet<string>, camera?: string) {
    const records = [...this.results.kept.values()].filter(
      ({ comparison }) => camera === undefined || comparison.camera === camera,
    );
    return new Set([...hashes].filter((hash) => JSON.stringify(records).includes(hash)));
  }
  async leaveComparison(id: string) {
    const { frames } = this.results.kept.get(id) ?? {};
    await this.leave([frames?.before, frames?.after].flatMap((frame) => frame?.sha256 ?? []));
  }
  async leave(hashes: Iterable<string>) {
    this.queued.push(...hashes);
  }
}
