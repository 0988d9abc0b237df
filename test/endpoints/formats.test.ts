/** The formats of endpoints, each checked with the library of the format if it has one. */
import { describe, expect, it } from '@jest/globals';
import { HTTP } from 'cloudevents';
import fc from 'fast-check';
import { visitMessage } from '../../src/camera/visits/message.js';
import { addressesOf } from '../../src/endpoints/formats/email.js';
import { topicOf } from '../../src/endpoints/formats/ntfy.js';
import { escapeChat } from '../../src/endpoints/formats/slack.js';
import { botOf } from '../../src/endpoints/formats/telegram.js';
import { type FormatName, LIMITS } from '../../src/endpoints/limits.js';
import { type EndpointMessage, pictureOf } from '../../src/endpoints/message.js';
import { payloadOf } from '../../src/endpoints/payload.js';
import { render } from '../../src/endpoints/render.js';
import { foundChange, NOON } from '../helpers/changes.js';
import { endpointMessage, LINKS } from '../helpers/endpoints.js';
import { receiverOf, textOf } from '../helpers/strict-receivers.js';
import { storedVisit } from '../helpers/visits.js';

const URL_OF = 'https://receiver.example/in?token=1';
const sent = (format: FormatName, message: EndpointMessage = endpointMessage(), url = URL_OF) => {
  const request = render(format, message, { ...receiverOf(format), url });
  const body = textOf(request);
  return { ...request, body, json: JSON.parse(body) };
};
/** A camera name and a caption that try everything. */
const HOSTILE = '<script>alert(1)</script> <!channel> @everyone *b* _i_ [x](http://evil.example) `c` ~s~ |\r\nX: y "q"';

describe('CloudEvents', () => {
  it.each(['cloudevents', 'cloudevents-binary'] as const)('as %s are read by their own library', (format) => {
    const message = endpointMessage('change.escalated');
    const { headers, body } = sent(format, message);
    const event = HTTP.toEvent({ headers, body }) as unknown as { validate(): boolean } & Record<string, unknown>;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      specversion: '1.0',
      id: message.id,
      source: 'https://cameras.example/v1/cameras/gate',
      type: 'dev.scenedelta.change.escalated',
      subject: message.subject.id,
      time: '2026-01-05T12:00:00.000Z',
      datacontenttype: 'application/json',
      data: message.payload.data,
    });
  });

  it.each(['standard-webhooks', 'cloudevents', 'slack', 'ntfy', 'teams', 'web-push'] as const)(
    'as %s show a visit with its picture',
    (format) => {
      const visit = storedVisit();
      const message = visitMessage({ type: 'visit.ended', visit }, NOON);
      if (message === null) throw new Error('endpoints can ask for it');
      const { body } = sent(format, {
        ...endpointMessage(),
        ...message,
        payload: payloadOf(message, { ...LINKS, framesMs: 1_000 }),
      });
      for (const shown of [visit.caption, '/frames/after?exp=']) expect(body).toContain(shown);
      expect(body).not.toContain('undefined');
    },
  );

  it.each([
    [['before'], 'before'],
    [['after'], 'after'],
    [['before', 'after'], 'after'],
  ] as const)(
    'have the picture of a change with regions in %j in "%s": a thing that moved at its new place',
    (sides, shown) => {
      const { regions } = foundChange();
      const [region] = regions as [(typeof regions)[0]];
      const message = endpointMessage('change.opened', { regions: sides.map((side) => ({ ...region, side })) });
      expect(message.picture?.side).toBe(shown);
      expect(pictureOf(message)).toBe(message.payload.data.picture?.url);
    },
  );

  it('have header values of printable characters, whatever a camera is called', () => {
    const { headers } = sent('cloudevents-binary', endpointMessage('change.opened', { id: 'ä "%\r\n' }));
    expect(headers['ce-subject']).toBe('%C3%A4%20%22%25%0D%0A');
  });
});

describe('Slack', () => {
  it('gets the sentence with a link and a picture', () => {
    const { json, url } = sent('slack', endpointMessage('change.opened', { zone: 'door', severity: 'high' }));
    expect(url).toBe(URL_OF);
    expect(json).toMatchObject({
      text: 'a car has appeared',
      mrkdwn: false,
      attachments: [
        {
          fallback: 'Gate: Change',
          title: 'Gate: Change',
          title_link: expect.stringContaining('https://cameras.example/review/chg_'),
          image_url: expect.stringContaining('/picture?'),
          fields: [{ value: 'gate' }, { value: 'high' }, { value: 'appear' }, { title: 'Zone', value: 'door' }],
        },
      ],
    });
  });

  it('gets no markup, mention or link out of a camera name or a caption', () => {
    const message = endpointMessage('change.opened', { caption: HOSTILE, zone: HOSTILE }, { cameraName: HOSTILE });
    const { json } = sent('slack', message);
    const [{ title, fallback, fields }] = json.attachments;
    for (const text of [json.text, title, fallback, ...fields.map((field: { value: string }) => field.value)]) {
      expect(text).not.toMatch(/[<>@*`~|[\]\r\n]|:\/\/|(^|\s)_|_(\s|$)/);
    }
    expect(title).toContain('&lt;script&gt;');
  });

  it('gets no character that begins markup from any text; underscores within ids are none', () => {
    expect(escapeChat('gate_3 _x_')).toBe('gate_3 ＿x＿');
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(escapeChat(text).replace(/&(amp|lt|gt);/g, '')).not.toMatch(/[<>&@*`~|[\]\\#]|\p{Cc}/u);
      }),
    );
  });
});

describe('ntfy', () => {
  it('gets the topic, a priority by severity, the link and the picture', () => {
    const { json, url } = sent(
      'ntfy',
      endpointMessage('change.opened', { severity: 'high' }),
      'https://n.example/p/top-ic',
    );
    expect(url).toBe('https://n.example/p');
    expect(json).toMatchObject({
      topic: 'top-ic',
      title: 'Gate: Change',
      message: 'a car has appeared',
      priority: 5,
      click: expect.stringContaining('/review/chg_'),
      attach: expect.stringContaining('/picture?'),
    });
    expect(sent('ntfy', endpointMessage('change.reverted', { severity: 'high' })).json).toMatchObject({ priority: 2 });
  });

  it.each([
    ['https://ntfy.sh/mytopic', { server: 'https://ntfy.sh/', topic: 'mytopic' }],
    ['https://h.example/ntfy/a_b-C/', { server: 'https://h.example/ntfy', topic: 'a_b-C' }],
    ['https://ntfy.sh/', undefined],
    ['https://ntfy.sh/a.b', undefined],
  ])('reads the topic of %s', (url, expected) => expect(topicOf(url)).toEqual(expected));
});

describe('Teams', () => {
  it('gets a card with the sentence as plain text, the picture and a button', () => {
    const { json } = sent('teams', endpointMessage('change.opened', { caption: HOSTILE, severity: 'high' }));
    const [{ content }] = json.attachments;
    const [title, sentence, facts, image] = content.body;
    expect(title.inlines).toMatchObject([{ text: 'Gate: Change', color: 'attention' }]);
    expect(sentence).toEqual({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: HOSTILE }] });
    expect(facts.inlines[0].text).toBe('gate · appear · high');
    expect(image).toMatchObject({ type: 'Image', url: expect.stringContaining('/picture?') });
    expect(content.actions).toMatchObject([{ url: expect.stringContaining('/review/chg_') }]);
  });
});

describe('Telegram', () => {
  const { url } = receiverOf('telegram');
  it('gets plain text with a bold title', () => {
    const { json, url: to } = sent('telegram', endpointMessage('change.opened', { caption: HOSTILE }), url);
    expect(to).toBe('https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSe/sendMessage');
    expect(json).toMatchObject({
      chat_id: '-1001234567890',
      text: expect.stringMatching(/^Gate: Change\n.*https:\/\/cameras.example\/review\/chg_/s),
      entities: [{ type: 'bold', offset: 0, length: 12 }],
    });
    expect(json.text).toContain(HOSTILE);
    expect(json.parse_mode).toBeUndefined();
  });

  it.each([
    ['https://api.telegram.org/bot1:a?chat_id=2&message_thread_id=3', { chat_id: '2', message_thread_id: '3' }],
    ['https://bots.example/x/bot1:a/sendMessage?chat_id=@c', { chat_id: '@c' }],
    ['https://api.telegram.org/bot1:a', undefined],
    ['https://api.telegram.org/1:a?chat_id=2', undefined],
  ])('reads the chat of %s', (address, fields) => expect(botOf(address)?.fields).toEqual(fields));
});

describe('PagerDuty', () => {
  it.each([
    ['change.opened', 'trigger'],
    ['change.escalated', 'trigger'],
    ['change.reverted', 'resolve'],
    ['change.acknowledged', 'resolve'],
  ] as const)('gets %s as %s of one incident per change', (type, action) => {
    const message = endpointMessage(type, { severity: 'high', zone: 'door' });
    const { json, headers } = sent('pagerduty', message);
    expect(json).toMatchObject({
      ...{ event_action: action, dedup_key: message.subject.id, routing_key: expect.any(String) },
      payload: { severity: 'critical', source: 'gate', component: 'door', class: 'appear' },
    });
    expect(headers.authorization).toBeUndefined();
  });
});

describe('E-mail', () => {
  const { url } = receiverOf('email');
  it('has text and HTML without markup of names, and refers to the change', () => {
    const picture = Buffer.from('x');
    const message = endpointMessage('change.opened', { caption: HOSTILE }, { cameraName: HOSTILE, jpeg: picture });
    const { json } = sent('email', message, url);
    expect(json).toMatchObject({
      from: 'cameras@site.example',
      to: ['guard@site.example', 'desk@site.example'],
      messageId: `<${message.id}@cameras.example>`,
      references: `<${message.subject.id}@cameras.example>`,
    });
    expect(json.text).toContain(HOSTILE);
    expect(json.html).not.toContain('<script');
    expect(json.html).toContain('cid:picture');
  });

  it('has the time of the change by the clock of the camera', () => {
    const berlin = endpointMessage('change.opened', {}, { timeZone: 'Europe/Berlin' });
    expect(sent('email', berlin, url).json.text).toContain('appear · medium · 2026-01-05 13:00:00 Europe/Berlin\n');
  });

  it.each([
    ['smtp://mail.example?from=a@b.example&to=c@d.example&to=e@f.example', ['c@d.example', 'e@f.example']],
    ['smtp://a%40b.example@mail.example?to=c%2Bx@d.example', ['c+x@d.example']],
    ['smtp://user@mail.example?to=c@d.example', undefined],
    ['smtp://mail.example?from=a@b.example', undefined],
    ['smtp://mail.example?from=a@b.example&to=c@d.example,x', undefined],
    ['smtp://mail.example?from=a@b.example&to=c@d.example%0D%0ABcc:x@y.example', undefined],
  ])('reads the recipients of %s', (address, to) => expect(addressesOf(address)?.to).toEqual(to));
});

describe('Every format', () => {
  const formats = Object.keys(LIMITS) as FormatName[];
  it.each(formats.filter((format) => !['pagerduty', 'email', 'web-push'].includes(format)))(
    '%s sends the login of the receiver, and nothing that another line of headers could be',
    (format) => {
      const message = endpointMessage('change.opened', { caption: HOSTILE }, { cameraName: HOSTILE });
      const { headers } = render(format, message, { url: URL_OF, authorization: 'Bearer tk_1' });
      expect(headers.authorization).toBe('Bearer tk_1');
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
    },
  );

  it.each(formats)('%s says that a test event is a test', (format) => {
    const message = endpointMessage('endpoint.test');
    const { headers, body } = sent(format, message);
    expect(JSON.stringify(headers) + body).toMatch(/test/i);
  });
});

describe('the language of a message', () => {
  it.each([
    ['de', 'Gate: Test, nichts hat sich verändert', 'Dies ist ein Test: Ein rotes Auto ist links aufgetaucht.'],
    ['fr', 'Gate: Test, rien n’a changé', 'Ceci est un test : Une voiture rouge est apparue à gauche.'],
    ['ja', 'Gate: テスト（変化はありません）', 'これはテストです：左側に赤い車が現れました。'],
  ] as const)('is that of its title and its test: %s', (locale, title, message) => {
    const given = endpointMessage('endpoint.test', {}, { locale });
    expect(sent('ntfy', given, 'https://ntfy.example/topic').json).toMatchObject({ title, message });
  });
});
