/** A link to one change for a person without a key, as a fact of the change. */
import { useEffect, useState } from 'preact/hooks';
import { may } from '../access.js';
import { api, messageOf, ok } from '../api/client.js';
import { t } from '../texts/texts.js';
import { CopyLink } from '../ui/copy-link.js';
import { Fact } from '../ui/fact.js';
import { shownTime } from '../ui/format.js';

const HOURS = [1, 24, 168] as const;

export function Share({ change }: { readonly change: string }) {
  const [link, setLink] = useState<{ url: string; expires_at: string } | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    setLink(null);
    setFault('');
  }, [change]);
  if (!may('judge')) return null;
  const make = (hours: number) =>
    ok(api.POST('/v1/changes/{id}/share', { params: { path: { id: change } }, body: { hours } })).then(
      setLink,
      (error: unknown) => setFault(messageOf(error)),
    );
  return (
    <Fact name={t('Share')}>
      {link === null ? (
        <span class="share">
          {HOURS.map((hours) => (
            <button key={hours} type="button" onClick={() => make(hours)}>
              {t('{n} hour|{n} hours', { n: hours })}
            </button>
          ))}
        </span>
      ) : (
        <span class="share">
          <CopyLink name={t('Link to this change')} url={link.url} />
          <span class="quiet">{t('opens without a key until {time}', { time: shownTime(link.expires_at) })}</span>
        </span>
      )}
      <span role="alert" class="fault">
        {fault}
      </span>
    </Fact>
  );
}
