// Search narrows the list of operations to those that have all words in name, address or summary.
import { byId, said } from './page';

export function addSearch() {
  const field = byId<HTMLInputElement>('search'), found = byId('found');
  const areas = [...document.querySelectorAll<HTMLDetailsElement>('#operations details')].map((area) => ({ area, open: area.open, links: [...area.querySelectorAll('a')] }));
  const textOf = (link: HTMLAnchorElement) => `${link.textContent} ${link.pathname.slice('/docs/'.length)} ${link.dataset.path ?? ''}`.toLowerCase();
  const texts = new Map(areas.flatMap(({ links }) => links.map((link) => [link, textOf(link)] as const)));

  function narrow() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hits = 0;
    for (const { area, open, links } of areas) {
      let here = 0;
      for (const link of links) {
        const fits = words.every((word) => texts.get(link)!.includes(word));
        link.parentElement!.hidden = !fits;
        if (fits) here++;
      }
      area.hidden = here === 0;
      area.open = words.length ? here > 0 : open;
      hits += here;
    }
    found.textContent = words.length ? (hits ? said.found!.replace('#', String(hits)) : said.none!) : '';
  }

  field.addEventListener('input', narrow);
  field.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') document.querySelector<HTMLAnchorElement>('#operations details:not([hidden]) li:not([hidden]) a')?.click();
  });
  document.addEventListener('keydown', (e) => {
    if (e.key !== '/' || e.ctrlKey || e.metaKey || (e.target as Element).matches('input, textarea, select')) return;
    e.preventDefault();
    field.focus();
  });
  field.closest<HTMLElement>('.search')!.hidden = false;
  document.querySelector('#operations [aria-current]')?.scrollIntoView({ block: 'nearest' });
  if (!location.hash) scrollTo(0, 0);
}
