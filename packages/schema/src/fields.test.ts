import { describe, expect, it, vi } from 'vitest';
import { hostText, moment, scope, text, timestamp, uuid } from './fields.ts';

const messages = (result: { success: boolean; error?: { issues: { message: string }[] } }) =>
  result.error?.issues.map(({ message }) => message);

describe('uuid', () => {
  it('takes any case and any version, and is lower case from there on', () => {
    expect(uuid.parse('F47AC10B-58CC-4372-A567-0E02B2C3D479')).toBe(
      'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    );
    expect(uuid.parse('0193AA00-0000-7000-8000-00000000000A')).toBe(
      '0193aa00-0000-7000-8000-00000000000a',
    );
    expect(uuid.parse('00000000-0000-0000-0000-000000000000')).toMatch(/^0/);
  });

  it.each(['', 'x', 'f47ac10b58cc4372a5670e02b2c3d479', ' f47ac10b-58cc-4372-a567-0e02b2c3d479'])(
    'refuses %j, once, with an example',
    (value) => {
      expect(messages(uuid.safeParse(value))).toEqual([expect.stringContaining('such as')]);
    },
  );
});

describe('text', () => {
  it.each([
    ['one character', 'a'],
    ['200 characters', 'a'.repeat(200)],
    ['200 characters of two UTF-16 units each', '🔑'.repeat(200)],
    ['letters of any script', 'Ада Лавлейс, 艾达, ادا'],
    ['spaces around', ' a '],
    ['a combining mark that has no letter of its own with it', 'x\u0301'],
    ['what stands next to the control characters', ' ~\u00a0\ud7ff\ue000'],
    ['an emoji of several characters', '👩🏽\u200d🚀❤\ufe0f\u200d🔥'],
    ['letters that a joiner parts', 'می\u200cخواهم'],
    ['Burmese', 'မြန်မာနိုင်ငံ'],
    ['Devanagari, with a joiner behind a mark', 'श्रीमान् क्\u200dष'],
    ['Bengali, with a joiner before a mark', 'র\u200d্যাব'],
    ['Hebrew with points', 'בְּרֵאשִׁית'],
    ['a family', '👨\u200d👩\u200d👧\u200d👦'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['four marks in a row', 'x\u0301\u0302\u0303\u0304'],
    ['a mark before a letter', '\u0301a'],
  ])('takes %s', (_, value) => {
    expect(text.parse(value)).toBe(value);
  });

  it('takes 200 characters that are written with four each, and composes no text of thousands', () => {
    expect(text.parse('\u03b1\u0313\u0300\u0345'.repeat(200))).toBe('\u1f82'.repeat(200));
    const normalize = vi.spyOn(String.prototype, 'normalize');
    const { success } = text.safeParse('\u0315\u0300'.repeat(2_400));
    const asked = normalize.mock.calls.length;
    normalize.mockRestore();
    expect([success, asked]).toEqual([false, 0]);
  });

  it.each([
    ['nothing', ''],
    ['201 characters', 'a'.repeat(201)],
    ['201 characters of two UTF-16 units each', '🔑'.repeat(201)],
    ['a line break', 'a\nb'],
    ['a line break at the end', 'a\n'],
    ['a NUL', '\u0000'],
    ['a DEL', 'a\u007f'],
    ['a C1 control character', 'a\u0085'],
    ['the last C1 control character', '\u009f'],
    ['half a character', '\ud83d'],
    ['the other half', 'a\udd11'],
    ['both halves in the wrong order', '\udd11\ud83d'],
    ['a space', ' '],
    ['white space alone', '\u00a0\u2003 '],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['a mark that turns the direction', '\u202eabc'],
    ['a character without width', 'a\u200bb'],
    ['a byte order mark', '\ufeffa'],
    ['a soft hyphen', 'a\u00adb'],
    ['the tags of an emoji flag', '🏴\u{e0067}\u{e007f}'],
    ['a joiner at the start', '\u200da'],
    ['a joiner at the end', 'a\u200c'],
    ['a joiner beside a space', 'a\u200d b'],
    ['two joiners', 'a\u200d\u200cb'],
    ['a mark alone', '\u0301'],
    ['a mark on a space', ' \u0301'],
    ['five marks in a row', 'x\u0301\u0302\u0303\u0304\u0305'],
    ['a selector that selects nothing', 'a \ufe0f'],
    ['a selector behind a joiner', 'a\u200d\ufe0fb'],
    ['a Hangul filler', 'a\u3164'],
    ['a blank pattern of Braille', '\u2800a'],
    ['a combining joiner', 'a\u034f\u0301'],
    ['a mark that turns the direction of nothing', 'a\u200f'],
  ])('refuses %s', (_, value) => {
    expect(messages(text.safeParse(value))).toHaveLength(1);
  });

  it('is in NFC, and counted in it', () => {
    expect(text.parse('e\u0301'.repeat(200))).toBe('é'.repeat(200));
    // U+0958 has two characters in NFC.
    expect(messages(text.safeParse('\u0958'.repeat(101)))).toHaveLength(1);
  });
});

describe('hostText', () => {
  const flag = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
  it.each([
    ['an England flag', flag, flag],
    ['letters around a flag', `a${flag}b`, `a${flag}b`],
    ['tags without their end', '🏴\u{e0067}x', '🏴x'],
    ['tags behind nothing', ' \u{e0067}\u{e007f}x', ' x'],
    ['the end of no tags', 'x\u{e007f}', 'x'],
    ['tags behind a combining joiner', 'x\u034f\u{e0067}\u{e007f}', 'x'],
    ['families', '👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥', '👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥'],
    ['Burmese', 'မြန်မာ', 'မြန်မာ'],
    ['Devanagari', 'क्\u200dष', 'क्\u200dष'],
    ['Bengali', 'র\u200d্যাব', 'র\u200d্যাব'],
    ['a right-to-left mark', 'דנה\u200f', 'דנה'],
    ['an override of the direction', '\u202eabc', 'abc'],
    ['a joiner at the end', 'അവന്\u200d', 'അവന്'],
    ['a joiner beside a hidden character', 'a\u200b\u200db', 'a\u200db'],
    ['a line break', 'a\nb', 'ab'],
    ['half a character', 'a\ud83d', 'a'],
    ['marks that pile up', `x${'\u0301'.repeat(9)}y`, `x${'\u0301'.repeat(4)}y`],
    [
      'marks that pile up beside a hidden character',
      'x\u0302\u0302\u200b\u0302\u0302\u0302',
      'x\u0302\u0302\u0302\u0302',
    ],
    ['a letter and a mark that a hidden character parts', 'e\u200b\u0301', 'é'],
    ['a letter that NFC parts', `\u0958${'\u0302'.repeat(4)}`, `\u0915\u093c${'\u0302'.repeat(3)}`],
    ['white space alone', ' \u00a0', ''],
    ['hidden characters alone', '\u3164\u2800\u200d', ''],
    ['nothing', '', ''],
    ['200 characters and a hidden one', `\u200f${'💐'.repeat(200)}`, '💐'.repeat(200)],
  ])('keeps of %s what shows', (_, sent, kept) => {
    expect(hostText.parse(sent)).toBe(kept);
  });

  it('has at most 200 characters that are kept', () => {
    expect(messages(hostText.safeParse('a'.repeat(201)))).toHaveLength(1);
  });
});

describe('scope', () => {
  it.each([
    'profile.read',
    'a b',
    '!',
    "#$%&'()*+,-./:;<=>?@[]^_`{|}~",
    Array.from({ length: 32 }, (_, i) => `s${i}`).join(' '),
    'a'.repeat(1000),
  ])('takes %s', (value) => {
    expect(scope.parse(value)).toBe(value);
  });

  it.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a space before', ' a'],
    ['a space behind', 'a '],
    ['two spaces', 'a  b'],
    ['a tab', 'a\tb'],
    ['a line break at the end', 'a\n'],
    ['a quotation mark', 'a"b'],
    ['a backslash', 'a\\b'],
    ['a letter outside ASCII', 'é'],
    ['a DEL', '\u007f'],
    ['a token twice', 'a b a'],
    ['33 tokens', Array.from({ length: 33 }, (_, i) => `s${i}`).join(' ')],
    ['1001 characters', 'a'.repeat(1001)],
  ])('refuses %s', (_, value) => {
    expect(scope.safeParse(value).success).toBe(false);
  });
});

describe('moment', () => {
  it.each([
    '2027-01-31T00:00:00Z',
    '2027-01-31T00:00:00+00:00',
    '2027-01-31T00:00:00.5-08:00',
    '2027-01-31T00:00:00.123456789Z',
    '2028-02-29T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ])('takes %s', (value) => {
    expect(moment.parse(value)).toBe(value);
    expect(Date.parse(value)).not.toBeNaN();
  });

  it.each([
    ['a date', '2027-01-31'],
    ['no offset', '2027-01-31T00:00:00'],
    ['a day that does not exist', '2027-02-29T00:00:00Z'],
    ['an hour that does not exist', '2027-01-31T24:00:00Z'],
    ['a leap second', '2027-01-31T23:59:60Z'],
    ['an offset without a colon', '2027-01-31T00:00:00+0000'],
    ['an offset of a day', '2027-01-31T00:00:00+24:00'],
    ['words', 'tomorrow'],
    ['nothing', ''],
  ])('refuses %s, once, with an example', (_, value) => {
    expect(messages(moment.safeParse(value))).toEqual([expect.stringContaining('such as')]);
  });

  it('refuses a time after the year 9999, with the offset applied', () => {
    expect(messages(moment.safeParse('9999-12-31T23:59:59-00:01'))).toEqual([
      'Must be before the year 10000.',
    ]);
  });
});

describe('timestamp', () => {
  it.each([
    '2026-11-21T02:15:30.123Z',
    '2026-11-21T02:15:30+00:00',
    '2026-11-21T02:15:30.123+01:00',
  ])('is written in one way only: not %s', (value) => {
    expect(timestamp.safeParse(value).success).toBe(false);
  });
});
