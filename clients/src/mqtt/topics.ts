/** Names of MQTT topics and of things in Home Assistant. Pure. */
import { createHash } from 'node:crypto';

/** Ids that end like a slug with a hash; they get one of their own, so that no two ids share a slug. */
const ENDS_AS_HASH = /-[0-9a-f]{10}$/;

/**
 * @param id of a camera or zone: letters, digits, '.', '_' and '-'
 * @returns the id in the characters that Home Assistant takes, [A-Za-z0-9_-]; different for different ids
 */
export function slugOf(id: string): string {
  if (!id.includes('.') && !ENDS_AS_HASH.test(id)) return id;
  return `${id.replaceAll('.', '_')}-${createHash('sha256').update(id).digest('hex').slice(0, 10)}`;
}

/** @param base MQTT_TOPIC */
export const statusTopic = (base: string): string => `${base}/status`;

export interface CameraTopics {
  /** one message per alert, not retained */
  readonly alert: string;
  /** one message per begin and end of a visit, not retained */
  readonly visit: string;
  readonly picture: string;
  readonly sentence: string;
  readonly state: string;
  readonly availability: string;
  readonly changed: string;
  readonly suspended: string;
  /** commands ON and OFF for `suspended` */
  readonly suspend: string;
  /** one message per picture that a command asked for, not retained */
  readonly snapshot: string;
  /** command PRESS: a picture is pulled and compared now */
  readonly press: string;
  readonly zone: (id: string) => string;
}

export function topicsOf(base: string, camera: string): CameraTopics {
  const prefix = `${base}/${CAMERAS}/${slugOf(camera)}`;
  return {
    alert: `${prefix}/alert`,
    visit: `${prefix}/visit`,
    picture: `${prefix}/picture`,
    sentence: `${prefix}/sentence`,
    state: `${prefix}/state`,
    availability: `${prefix}/availability`,
    changed: `${prefix}/changed`,
    suspended: `${prefix}/suspended`,
    suspend: `${prefix}${COMMANDS.suspend}`,
    snapshot: `${prefix}/snapshot`,
    press: `${prefix}${COMMANDS.snapshot}`,
    zone: (id) => `${prefix}/zones/${slugOf(id)}`,
  };
}
const CAMERAS = 'cameras';
/** Ends of the topics of commands. */
const COMMANDS = { suspend: '/suspended/set', snapshot: '/snapshot/press' } as const;

/** Filters of the commands of all cameras. */
export const commandFilters = (base: string): string[] =>
  Object.values(COMMANDS).map((end) => `${base}/${CAMERAS}/+${end}`);

/** @returns the command of a topic, and the slug of the camera that it is for; undefined if it is no command */
export function commandOf(
  base: string,
  topic: string,
): { readonly name: keyof typeof COMMANDS; readonly slug: string } | undefined {
  const start = `${base}/${CAMERAS}/`;
  for (const name of ['suspend', 'snapshot'] as const) {
    const end = COMMANDS[name];
    if (topic.startsWith(start) && topic.endsWith(end)) return { name, slug: topic.slice(start.length, -end.length) };
  }
  return undefined;
}
