/** Entry of report.html. */
import { show } from '../show.js';
import { ReportPage } from './page.js';
// After the style that all documents share.
import './report.css';

show(ReportPage);
