// The addresses of pictures: those that are drawn, and the sizes of those that were uploaded.

/** sizesOf is the srcset of a picture that was uploaded here; undefined for any other, which has one size. */
export function sizesOf(at: string): string | undefined {
  const uploaded = new URL(at, location.href);
  if (uploaded.origin !== location.origin || !/^\/media\/\d+$/.test(uploaded.pathname)) return undefined;
  return `${uploaded.pathname}/thumbnail.webp 400w, ${uploaded.pathname}/og.webp 1200w, ${uploaded.pathname}/web.webp 2048w`;
}

/** drawnCover is the address of the picture that the server draws for an event without one. The category is any text. */
export const drawnCover = (event: { category: string; id: string }) => `/covers/${encodeURIComponent(event.category)}/${event.id}`;
