/** In-memory stores of endpoints and deliveries. They implement the methods that the API uses. */
import type { Delivery } from '../../src/schemas/delivery.js';
import type { NewDelivery } from '../../src/stores/delivery/deliveries.js';
import type { EndpointRecord, StoredEndpoint } from '../../src/stores/delivery/endpoints.js';

export class FakeDeliveries {
  readonly kept: Delivery[] = [];
  async create(created: readonly NewDelivery[]) {
    for (const one of created) this.kept.push({ ...one, state: 'pending', next_attempt_at: null, attempts: [] });
  }
  async forget() {}
  async get(id: string) {
    return this.kept.find((delivery) => delivery.id === id);
  }
  async resend(id: string) {
    const i = this.kept.findIndex((delivery) => delivery.id === id);
    const delivery = this.kept[i];
    if (delivery === undefined) return false;
    this.kept[i] = { ...delivery, state: 'pending', resent_after: delivery.attempts.length };
    return true;
  }
  async ofSubject(id: string) {
    return this.kept.filter(({ subject }) => subject?.id === id);
  }
  async ofEndpoint(id: string, { limit }: { limit: number }) {
    const items = this.kept.filter((delivery) => delivery.endpoint === id).reverse();
    return { items: items.slice(0, limit), nextCursor: null };
  }
}

export class FakeEndpoints {
  readonly limits = {
    take: async () => true,
    isHeldBack: async () => false,
    due: async () => [],
    close: async () => {},
  };
  readonly kept = new Map<string, EndpointRecord>();
  async create(endpoint: StoredEndpoint) {
    const unknown = { failingSince: null, lastDeliveredAt: null, lastError: null, stopped: null, permission: null };
    this.kept.set(endpoint.id, { ...endpoint, ...unknown, heldBack: 0, briefUntil: null });
  }
  async update(changed: Omit<StoredEndpoint, 'sealed'>, { sealed, again }: { sealed?: string; again: boolean }) {
    const earlier = this.kept.get(changed.id);
    if (earlier === undefined) return false;
    const reset = again ? { stopped: null, failingSince: null, lastError: null, permission: null } : {};
    this.kept.set(changed.id, { ...earlier, ...changed, ...reset, ...(sealed === undefined ? {} : { sealed }) });
    return true;
  }
  async saveSecrets(id: string, sealed: string) {
    const earlier = this.kept.get(id);
    if (earlier !== undefined) this.kept.set(id, { ...earlier, sealed });
    return earlier !== undefined;
  }
  async get(id: string) {
    return this.kept.get(id);
  }
  async list({ limit }: { limit: number }) {
    return { items: [...this.kept.values()].reverse().slice(0, limit), nextCursor: null };
  }
  async all() {
    return [...this.kept.values()];
  }
  async erase(id: string) {
    return this.kept.delete(id);
  }
}
