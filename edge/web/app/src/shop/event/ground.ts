// The colours that an organizer has chosen for text and what lies behind it.
import { light } from '../../shared/accent';
import type { Schemas } from '../../shared/api/client';

const rgb = (hex: string) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/**
 * standOn paints the page's ground and text. A light ground is for those whose device is set to light, a dark
 * one for those who have it dark; and a pair that can't be read is left out.
 */
export function standOn({ backgroundColor: back, textColor: text }: Schemas['Customization']) {
  if (![back, text].every((hex) => /^#[0-9a-f]{6}$/i.test(hex))) return;
  const [under, over] = [light(rgb(back)), light(rgb(text))];
  const readable = (Math.max(under, over) + 0.05) / (Math.min(under, over) + 0.05) >= 7; // what is softer than the text has 4.5 then
  const usual = back.toLowerCase() === '#ffffff' && text.toLowerCase() === '#1a1a1a';
  const night = matchMedia('(prefers-color-scheme: dark)');
  const colours: [string, string][] = [['--back', back], ['--text', text], ...([['--panel', 5], ['--bone', 10], ['--line', 20], ['--soft', 80], ['--edge', 60]] as const)
    .map(([name, part]): [string, string] => [name, `color-mix(in srgb, ${text} ${part}%, ${back})`])];
  const paint = () => {
    const worn = readable && !usual && night.matches === under < over;
    for (const [name, colour] of colours) {
      if (worn) document.documentElement.style.setProperty(name, colour);
      else document.documentElement.style.removeProperty(name);
    }
  };
  paint();
  night.addEventListener('change', paint);
}
