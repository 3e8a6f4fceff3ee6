// How an event's page looks, as its form has it.
import { light } from '../../shared/accent';
import type { Schemas } from '../../shared/api/client';

type Page = Schemas['Customization'];

export const layouts = ['classic', 'split', 'gallery', 'minimal', 'magazine', 'festival'] as const;
export const heroes = ['image', 'video', 'gradient', 'pattern', 'solid'] as const;
export const colours = ['accentColor', 'primaryColor', 'secondaryColor', 'backgroundColor', 'textColor'] as const;
export const shows = ['showOrganizer', 'showSchedule', 'showVenueMap', 'showCountdown', 'showSocialShare', 'showPoweredBy'] as const;

/** Look is a page as the form changes it: colours as #rrggbb, which is all that the browser's field takes. */
export type Look = Omit<Page, 'socialLinks' | 'seoTitle' | 'seoDescription' | 'seoImage'> & { social: { platform: string; address: string }[]; seoTitle: string; seoDescription: string };

/** six writes a colour with six digits: #rgb is long, and what shines through is left out. */
function six(hex: string): string {
  return hex.length === 4 ? `#${[...hex.slice(1)].map((c) => c + c).join('')}` : hex.slice(0, 7);
}

/** lookOf reads a page for the form. */
export function lookOf(page: Page): Look {
  const { socialLinks, seoTitle, seoDescription, seoImage: _, ...rest } = page;
  const painted = Object.fromEntries(colours.map((name) => [name, six(page[name])])) as Pick<Page, (typeof colours)[number]>;
  const social = Object.entries(socialLinks as Record<string, string>).map(([platform, address]) => ({ platform, address }));
  return { ...rest, ...painted, faqs: page.faqs.map((f) => ({ ...f })), social, seoTitle: seoTitle ?? '', seoDescription: seoDescription ?? '' };
}

/** usual is how a page looks by itself, before its event is there and the server can be asked. */
export const usual = lookOf({
  faqs: [], layoutPattern: 'classic', heroStyle: 'image', primaryColor: '#1b4332', secondaryColor: '#40916c', accentColor: '#d8572a', backgroundColor: '#ffffff', textColor: '#1a1a1a', ctaLabel: 'Get tickets',
  showOrganizer: true, showSchedule: true, showVenueMap: true, showCountdown: true, showSocialShare: true, showPoweredBy: true, socialLinks: {}, seoTitle: null, seoDescription: null, seoImage: null,
});

/** changesOf are the fields that differ between two looks, as the API takes them. */
export function changesOf(from: Look, to: Look): Schemas['Customize'] {
  const sent = ({ social, seoTitle, seoDescription, ...rest }: Look) => ({
    ...rest, seoTitle: seoTitle.trim() || null, seoDescription: seoDescription.trim() || null, ctaLabel: rest.ctaLabel.trim() || null,
    faqs: rest.faqs.map((f) => ({ question: f.question.trim(), answer: f.answer.trim() })), socialLinks: Object.fromEntries(social.map((s) => [s.platform.trim(), s.address.trim()])),
  });
  const before = Object.entries(sent(from)).map(([name, value]) => [name, JSON.stringify(value)]);
  const was = Object.fromEntries(before) as Record<string, string>;
  return Object.fromEntries(Object.entries(sent(to)).filter(([name, value]) => JSON.stringify(value) !== was[name])) as Schemas['Customize'];
}

const lightOf = (hex: string) => light([1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** isDark says whether a ground is a dark one. */
export const isDark = (ground: string) => lightOf(ground) < 0.18;

/** isReadable says whether text can be read on a ground, as the event's page judges it. */
export function isReadable(ground: string, text: string): boolean {
  const [a, b] = [lightOf(ground), lightOf(text)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 7;
}

/** colourOf is the strongest colour of a picture of this server. */
export async function colourOf(address: string): Promise<string> {
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const side = 24;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const paper = canvas.getContext('2d', { willReadFrequently: true })!;
  paper.drawImage(picture, 0, 0, side, side);
  const { data } = paper.getImageData(0, 0, side, side);
  let best = [0, 0, 0], most = -1;
  for (let i = 0; i < data.length; i += 4) {
    const rgb = [data[i]!, data[i + 1]!, data[i + 2]!];
    const strength = Math.max(...rgb) - Math.min(...rgb);
    if (strength > most) [best, most] = [rgb, strength];
  }
  return `#${best.map((c) => c.toString(16).padStart(2, '0')).join('')}`;
}
