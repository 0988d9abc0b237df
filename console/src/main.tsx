/** Entry of the console. */
import { render } from 'preact';
import './styles/base.css';
import './styles/frame.css';
import './styles/pair.css';
import './styles/try.css';
import { App } from './app.js';
import { startSession } from './session.js';

render(<App />, document.getElementById('app') as HTMLElement);
startSession();
