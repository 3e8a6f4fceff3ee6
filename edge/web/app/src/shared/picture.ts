// The sizes in which an uploaded picture is there.

/** sizesOf is the srcset of a picture that was uploaded here; undefined for any other, which has one size. */
export function sizesOf(at: string): string | undefined {
  const uploaded = new URL(at, location.href);
  if (uploaded.origin !== location.origin || !/^\/media\/\d+$/.test(uploaded.pathname)) return undefined;
  return `${uploaded.pathname}/thumbnail.webp 400w, ${uploaded.pathname}/og.webp 1200w, ${uploaded.pathname}/web.webp 2048w`;
}
