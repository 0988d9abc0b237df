/** Rules of the reducer, from the settings of one camera. Plain JSON; durations in ms. */
import { isAboutVisits, type RuleSentence, readRuleSentence } from '../../language/people/rule-sentence.js';
import type { Severity } from '../../schemas/kinds.js';
import type { Schedule } from '../settings/schedule.js';
import type { CameraSettings, Zone } from '../settings/settings.js';
import type { SeverityRule } from '../settings/severity-rule.js';
import { zonePhrase } from '../settings/zone-phrase.js';
import type { ZonePhrases } from './place-names.js';

/** The sentence of a rule, as it is written and as it is read. */
export interface NamedSentence {
  readonly text: string;
  readonly said: RuleSentence;
}

export interface ChangeRules {
  readonly camera: string;
  /** of the include zones that have a name */
  readonly places: ZonePhrases;
  readonly before: CameraSettings['before'];
  readonly confirmFrames: number;
  readonly persistMs: number;
  /** time after which a change, or a tampered view, settles; null: never */
  readonly settleMs: { readonly scene: number | null; readonly tamper: number | null };
  readonly cooldownMs: number;
  /** time for which an object must stay to count as left or removed; null: none does */
  readonly leftAfterMs: number | null;
  readonly minSeverity: Severity;
  /** the first matching rule decides */
  readonly severity: readonly SeverityRule[];
  /** the sentences of these rules that are about changes, and those about visits, each once */
  readonly sentences: readonly NamedSentence[];
  readonly visitSentences: readonly NamedSentence[];
  readonly schedule: Schedule | null;
  /** epoch ms; no alerts before this time */
  readonly suspendUntil: number | null;
  /** false for a recording, which sends no alerts */
  readonly alerting: boolean;
}

type RuleSettings = Pick<CameraSettings, 'before' | 'zones' | 'schedule' | 'suspend_until' | 'alerts' | 'memory'>;

const SECOND = 1_000;

/** @param alerting whether the frames may cause alerts */
export function rulesOf(camera: string, settings: RuleSettings, alerting = true): ChangeRules {
  const { alerts } = settings;
  // Zones come after the rules, so that a rule can make an exception within a zone.
  const sentences = sentencesOf(alerts.severity_rules, settings.zones);
  const zones = settings.zones.flatMap(({ id, severity }) => (severity === null ? [] : [{ zone: id, severity }]));
  return {
    camera,
    places: placesOf(settings.zones),
    before: settings.before,
    confirmFrames: alerts.confirm_frames,
    persistMs: alerts.persist_s * SECOND,
    settleMs: settleTimes(settings.before, settings.memory.absorb_s * SECOND),
    cooldownMs: alerts.cooldown_s * SECOND,
    leftAfterMs: alerts.left_after_s === 0 ? null : alerts.left_after_s * SECOND,
    minSeverity: alerts.min_severity,
    severity: [...alerts.severity_rules, ...zones],
    sentences: sentences.filter(({ said }) => !isAboutVisits(said)),
    visitSentences: sentences.filter(({ said }) => isAboutVisits(said)),
    schedule: settings.schedule,
    suspendUntil: settings.suspend_until === null ? null : Date.parse(settings.suspend_until),
    alerting,
  };
}

/** Settings are stored only if each sentence can be read. */
const sentencesOf = (rules: readonly SeverityRule[], zones: readonly Zone[]): NamedSentence[] =>
  [...new Set(rules.flatMap(({ when }) => when ?? []))].flatMap((text) => {
    const read = readRuleSentence(text, zones);
    return 'said' in read ? [{ text, said: read.said }] : [];
  });

const placesOf = (zones: readonly Zone[]): ZonePhrases =>
  Object.fromEntries(
    zones
      .filter(({ type }) => type === 'include')
      .flatMap((zone) => {
        const phrase = zonePhrase(zone);
        return phrase === null ? [] : [[zone.id, phrase]];
      }),
  );

function settleTimes(before: ChangeRules['before'], absorbMs: number): ChangeRules['settleMs'] {
  if (before === 'reference') return { scene: null, tamper: null };
  // A confirmed change settles at once, so that the previous frame is recent. A blocked lens shows nothing, so it
  // waits.
  return { scene: before === 'previous' ? 0 : absorbMs, tamper: absorbMs };
}
