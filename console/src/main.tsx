/** Entry of the console. */
import { render } from 'preact';
import { Router } from 'wouter-preact';
import './styles/base.css';
import './styles/frame.css';
import './styles/pair.css';
import './styles/try.css';
import { ROOT } from './api/root.js';
import { App } from './app.js';
import { startSession } from './session.js';

render(
  <Router base={ROOT}>
    <App />
  </Router>,
  document.getElementById('app') as HTMLElement,
);
startSession();
