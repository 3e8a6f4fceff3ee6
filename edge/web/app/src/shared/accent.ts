// An event's own colour, made darker or lighter until text in it can be read.
export function light([r, g, b]: number[]): number {
  const [x, y, z] = [r!, g!, b!].map((c) => {
    const v = c / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!;
}

/** readable is a colour that text can have on the page, by day or by night. */
export function readable(hex: string, dark: boolean): string {
  let rgb = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const back = light(dark ? [20, 23, 28] : [255, 255, 255]), panel = light(dark ? [29, 33, 40] : [245, 246, 248]);
  for (let i = 0; i < 60; i++) {
    const own = light(rgb);
    if ([back, panel].every((b) => (Math.max(own, b) + 0.05) / (Math.min(own, b) + 0.05) >= 4.6)) break;
    rgb = rgb.map((c) => (dark ? c + (255 - c) * 0.06 : c * 0.94));
  }
  return `rgb(${rgb.map(Math.round).join(' ')})`;
}

/** wear paints the page's links and its first button in a colour. */
export function wear(hex: string) {
  if (!/^#[0-9a-f]{6}/i.test(hex)) return;
  const night = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => {
    document.documentElement.style.setProperty('--accent', readable(hex, night.matches));
    document.documentElement.style.setProperty('--on-accent', night.matches ? '#10141b' : '#ffffff');
  };
  paint();
  night.addEventListener('change', paint);
}
