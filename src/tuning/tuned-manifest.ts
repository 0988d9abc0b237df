/** The manifest of a tuned bundle: that of its source with the accepted parts, and a record of what was done. */
import { type Bundle, type BundleManifest, identityOf, type Tuned } from '../model/manifest.js';
import type { NamePriors } from './name-priors.js';
import { applyFit, type VerdictFit } from './verdict-fit.js';

/** Hexadecimal digits of the identity that are part of the version. */
const VERSION_DIGITS = 8;

/** The parts that a tuning changes; an absent part is as it was. */
export interface TunedParts {
  readonly verdict?: VerdictFit;
  readonly cameras?: Readonly<Record<string, number>>;
  readonly priors?: NamePriors;
}

/**
 * @param name of the new bundle
 * @param record how the parts were chosen
 */
export function tunedManifest(
  { manifest, sha256 }: Bundle,
  name: string,
  { verdict, cameras, priors }: TunedParts,
  record: Omit<Tuned, 'from'>,
): BundleManifest {
  const { calibration, names, version } = manifest;
  const fitted = verdict === undefined ? calibration : applyFit(calibration, verdict);
  const tuned: BundleManifest = {
    ...manifest,
    name,
    calibration: { ...fitted, ...(cameras === undefined ? {} : { cameras: { ...cameras } }) },
    ...(names === undefined || priors === undefined ? {} : { names: { ...names, prior: joined(names.prior, priors) } }),
    tuned: { from: { name: manifest.name, version, sha256 }, ...record },
  };
  const suffix = `tuned.${identityOf(tuned).slice(0, VERSION_DIGITS)}`;
  return { ...tuned, version: version.includes('-') ? `${version}.${suffix}` : `${version}-${suffix}` };
}

/** The factors were fitted on answers with those of the source, so that both apply. */
const joined = (source: NamePriors | undefined, learned: NamePriors): NamePriors => ({
  nouns: product(source?.nouns, learned.nouns),
  colours: product(source?.colours, learned.colours),
});

function product(source: NamePriors['nouns'] = {}, learned: NamePriors['nouns']): Record<string, number> {
  const names = [...new Set([...Object.keys(source), ...Object.keys(learned)])];
  return Object.fromEntries(
    names.map((name) => [name, Number(((source[name] ?? 1) * (learned[name] ?? 1)).toFixed(3))] as const),
  );
}
