/** Frame of the console: the head, the state of the connection, signing in, and the view of the current path. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { away } from './api/connection.js';
import { Mark } from './brand/mark.js';
import { DeviceButton } from './device/button.js';
import { isCurrent, Navigation, VIEWS } from './navigation.js';
import { session, signOut } from './session.js';
import { SignIn } from './sign-in.js';
import { automaticLocale, chooseLanguage, chosenLanguage, t } from './texts/texts.js';
import { lazyView } from './ui/lazy-view.js';
import { LocaleSelect, languageName } from './ui/locale-select.js';
import { isNarrow } from './ui/narrow.js';
import { Toasts } from './ui/toasts.js';

const TryPage = lazyView(async () => (await import('./try/page.js')).TryPage);
const ReviewPage = lazyView(async () => (await import('./review/page.js')).ReviewPage);
const CamerasPage = lazyView(async () => (await import('./cameras/page.js')).CamerasPage);
const WallPage = lazyView(async () => (await import('./cameras/wall.js')).WallPage);
const FootagePage = lazyView(async () => (await import('./footage/page.js')).FootagePage);
const EndpointsPage = lazyView(async () => (await import('./endpoints/page.js')).EndpointsPage);
const SystemPage = lazyView(async () => (await import('./system/page.js')).SystemPage);

const SENTENCES = {
  unreachable: t('The service cannot be reached.'),
  'without store': t('The service is there, but its store (Redis) does not answer: nothing is saved.'),
} as const;
export function App() {
  return (
    <>
      <a class="skip" href="#content">
        {t('Skip to the content')}
      </a>
      <header class="top">
        <Link class="brand" href="/">
          <Mark />
          {BRAND}
        </Link>
        {session.value && <Navigation />}
        <LocaleSelect
          label={t('Language')}
          value={chosenLanguage}
          none={t('Automatic: {language}', { language: languageName(automaticLocale) })}
          onValue={chooseLanguage}
        />
        <DeviceButton />
        {session.value?.key && !isNarrow.value && (
          <button
            type="button"
            class="plain"
            onClick={signOut}
            title={t('Signed in with the key {name}', { name: session.value.key.name })}
          >
            {t('Sign out')}
          </button>
        )}
      </header>
      <div role="status" class="connection">
        {away.value && (
          <p class="banner">
            {SENTENCES[away.value]} {t('Trying again every two seconds …')}
          </p>
        )}
      </div>
      <main id="content" tabIndex={-1}>
        <Content />
      </main>
      <Toasts />
    </>
  );
}

const BRAND = 'scenedelta';
/** The name of the page, and of the thing that it shows, as the title of the window. */
function useTitle(): void {
  const [path] = useLocation();
  const [, , thing = ''] = path.split('/');
  const name = VIEWS.find(([view]) => isCurrent(view, path))?.[1];
  useEffect(() => {
    document.title = [thing, name, BRAND].filter(Boolean).join(' · ');
  }, [thing, name]);
}

function Content(): ComponentChildren {
  useTitle();
  if (session.value === undefined) return away.value ? null : <p class="quiet">{t('Loading …')}</p>;
  if (session.value === null) return <SignIn />;
  return (
    <Switch>
      <Route path="/" component={ReviewPage} />
      <Route path="/review/:change?" component={ReviewPage} />
      <Route path="/try" component={TryPage} />
      <Route path="/cameras/:camera?" component={CamerasPage} />
      <Route path="/wall" component={WallPage} />
      <Route path="/footage/:batch?" component={FootagePage} />
      <Route path="/endpoints/:endpoint?" component={EndpointsPage} />
      <Route path="/system" component={SystemPage} />
      <Route>
        <p>
          {t('There is no such page.')} <Link href="/">{t('To the start')}</Link>
        </p>
      </Route>
    </Switch>
  );
}
