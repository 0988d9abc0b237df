/** Requests of the format `template`: texts that the owner of an endpoint writes. */
import { describe, expect, it } from '@jest/globals';
import { templateFault } from '../../src/endpoints/formats/template.js';
import { render } from '../../src/endpoints/render.js';
import { endpointMessage } from '../helpers/endpoints.js';

const URL_OF = 'https://receiver.example/in?token=1';
/** A camera name and a caption that try everything. */
const HOSTILE = '<script>alert(1)</script> <!channel> @everyone *b* _i_ [x](http://evil.example) `c` ~s~ |\r\nX: y "q"';

describe('A template', () => {
  const made = (text: string, contentType: string) => {
    const message = endpointMessage('change.opened', { caption: HOSTILE }, { cameraName: HOSTILE });
    return render('template', message, { url: URL_OF, authorization: null, template: { text, contentType } });
  };
  it.each([
    [
      'application/json',
      '{"text": {{ text }}, "over": {{ over }}, "zone": {{ zone }}}',
      { text: HOSTILE, over: false, zone: null },
    ],
    ['application/json', '{% if over %}1{% else %}{{ data.change.regions[0].box.x }}{% endif %}', 0.1],
  ])('in %s writes each output as JSON: %s', (type, text, expected) => {
    const { body, headers } = made(text, type);
    expect(headers['content-type']).toBe(type);
    expect(JSON.parse(String(body))).toEqual(expected);
  });

  it.each([
    ['text/html', '<b>{{ title }}</b>', /^<b>&lt;script&gt;/],
    ['text/plain', '{{ title }}', /^<script>/],
    ['application/x-www-form-urlencoded', 'a={{ title }}', /^a=%3Cscript%3E/],
    ['text/plain', '{{ data.change.regions[0].box.x }}', /^0\.1$/],
    ['text/html', '{{ title | split: " " }}', /^&lt;script&gt;/],
    ['text/html', '{{ zone }}', /^$/],
  ])('in %s writes %s', (type, text, expected) => expect(made(text, type).body).toMatch(expected));

  it.each(['text/plain', 'text/html', 'application/x-www-form-urlencoded'])('in %s keeps names on one line', (type) => {
    const message = endpointMessage('change.opened', {}, { cameraName: 'a\r\nb: c\0\u202e' });
    const template = { text: '{{ camera_name }}', contentType: type };
    const { body } = render('template', message, { url: URL_OF, authorization: null, template });
    expect(body).toBe(type.includes('form') ? 'a+b%3A+c+' : 'a b: c ');
  });

  it.each([
    ['{"a":\n{{ text', /line:2/],
    ['{% foo %}', /tag "foo" not found, line:1/],
    ['\n\n{{ text | nope }}', /undefined filter: nope, line:3/],
    ['\n{{ titel }}', /undefined variable: titel, line:2/],
    ['{% include "/etc/passwd" %}', /ENOENT|not found|Failed to lookup/],
    ['{% render "package.json" %}', /ENOENT|not found|Failed to lookup/],
    ['{{ text.constructor }}', /undefined variable/],
    ['{% for i in (1..100000000) %}x{% endfor %}', /limit exceeded/],
    ['{"text": {{ text }}', /it makes no JSON of a test event/],
  ])('%j is invalid, and the fault names the place', (text, fault) => {
    expect(templateFault(text, 'application/json')).toMatch(fault);
  });
});
