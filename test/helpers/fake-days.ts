/** In-memory store of the days of cameras, for tests of the routes. */
import type { UnseenSpan } from '../../src/camera/state/state.js';
import type { Change } from '../../src/schemas/change.js';
import type { DaySpan } from '../../src/stores/changes/days.js';

/** Days of cameras. The routes get all changes of the camera, of any day. */
export class FakeDays {
  readonly changes: Change[] = [];
  readonly spans: UnseenSpan[] = [];
  readonly asked: { camera: string; from: number; until: number; limit: number }[] = [];
  truncated = false;
  async changesOf(camera: string, { from, until }: DaySpan, limit: number) {
    this.asked.push({ camera, from, until, limit });
    return { changes: this.changes.filter((change) => change.camera === camera), truncated: this.truncated };
  }
  async unseenOf() {
    return this.spans;
  }
}
