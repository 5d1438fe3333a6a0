import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrast, readableOn, textOn } from './contrast.ts';

const color = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('contrast is that of WCAG 2.2', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#0b62d6', '#0b62d6')).toBe(1);
  // The greys of WCAG's own examples of what just passes and just fails AA on white.
  expect(contrast('#767676', '#ffffff')).toBeGreaterThan(4.5);
  expect(contrast('#777777', '#ffffff')).toBeLessThan(4.5);
});

test('the text on a colour is black or white, whichever has the greater contrast', () => {
  fc.assert(
    fc.property(color, (background) => {
      const chosen = contrast(textOn(background), background);
      expect(chosen).toBe(
        Math.max(contrast('#000000', background), contrast('#ffffff', background)),
      );
      expect(chosen).toBeGreaterThan(4.5);
    }),
  );
});

test('every colour has a shade that can be read', () => {
  fc.assert(
    fc.property(color, fc.constantFrom('#ffffff', '#181b20'), (brand, background) => {
      expect(contrast(readableOn(background, brand, 4.5), background)).toBeGreaterThanOrEqual(4.5);
    }),
  );
  expect(readableOn('#ffffff', '#0b62d6', 4.5)).toBe('#0b62d6');
});
