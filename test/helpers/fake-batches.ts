/** Batches in memory, by the rules of the store on Redis. */
import { isBatchFinal } from '../../src/schemas/batch.js';
import { type AcceptedBatch, type BatchRecord, type BatchStore, seesBatch } from '../../src/stores/batches/batches.js';

export class FakeBatches implements Pick<BatchStore, 'create' | 'get' | 'list' | 'cancel' | 'retry' | 'erase'> {
  readonly kept = new Map<string, BatchRecord>();
  async create(batch: AcceptedBatch) {
    const nothing = {
      finishedAt: null,
      error: null,
      plan: null,
      progress: [],
      chunks: [],
      run: { number: 0, since: [] },
    };
    this.kept.set(batch.id, { ...batch, status: 'queued', ...nothing });
  }
  async get(id: string) {
    return this.kept.get(id);
  }
  async list({ visibility, limit }: Parameters<BatchStore['list']>[0]) {
    const seen = [...this.kept.values()].filter((batch) => seesBatch(visibility, batch)).reverse();
    return { items: seen.slice(0, limit), nextCursor: null };
  }
  async cancel(id: string, at: number) {
    const batch = this.kept.get(id);
    if (batch === undefined || isBatchFinal(batch.status)) return false;
    this.kept.set(id, { ...batch, status: 'cancelled', finishedAt: at });
    return true;
  }
  async retry(id: string) {
    const batch = this.kept.get(id);
    if (batch?.status !== 'failed' && batch?.status !== 'cancelled') return false;
    const status = batch.plan === null ? 'queued' : 'running';
    this.kept.set(id, { ...batch, status, finishedAt: null, error: null });
    return true;
  }
  async erase(id: string) {
    this.kept.delete(id);
  }
}
