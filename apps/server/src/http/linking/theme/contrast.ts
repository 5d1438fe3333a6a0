type Rgb = readonly [red: number, green: number, blue: number];

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

function parse(color: string): Rgb {
  const channel = (at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

const format = (rgb: Rgb) =>
  `#${rgb.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;

function luminance(rgb: Rgb): number {
  const linear = (channel: number) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = rgb;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function contrastBetween(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2: from 1 to 21. */
export function contrast(one: string, other: string): number {
  return contrastBetween(parse(one), parse(other));
}

export function textOn(color: string): '#000000' | '#ffffff' {
  const background = parse(color);
  const isWhiteBetter = contrastBetween(WHITE, background) > contrastBetween(BLACK, background);
  return isWhiteBetter ? '#ffffff' : '#000000';
}

const STEPS = 20;

/** Mixes the colour with black or white: not every brand colour can be read as text. */
export function readableOn(background: string, color: string, least: number): string {
  const [from, behind, towards] = [parse(color), parse(background), parse(textOn(background))];
  for (let step = 0; step < STEPS; step++) {
    const share = step / STEPS;
    const shade = parse(
      format([0, 1, 2].map((i) => mix(from, towards, i, share)) as unknown as Rgb),
    );
    if (contrastBetween(shade, behind) >= least) return format(shade);
  }
  return format(towards);
}

const mix = (from: Rgb, towards: Rgb, i: number, share: number) =>
  (from[i] as number) * (1 - share) + (towards[i] as number) * share;
