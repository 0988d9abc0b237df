/** Starts the page once its texts are there. */
import { render } from 'preact';
import { Router } from 'wouter-preact';
import { addressOf, ROOT } from './api/root.js';
import { App } from './app.js';
import { startSession } from './session.js';
import { missingLanguage, t } from './texts/texts.js';
import { toast } from './ui/toasts.js';

export function start(): void {
  render(
    <Router base={ROOT}>
      <App />
    </Router>,
    document.getElementById('app') as HTMLElement,
  );
  startSession();
  // Browsers have it on https and loopback alone; the page works without.
  void navigator.serviceWorker?.register(addressOf('/service-worker.js')).catch(() => undefined);
  if (missingLanguage !== null) {
    toast(t('There are no texts in {language}: this page is in English.', { language: missingLanguage }));
  }
}
