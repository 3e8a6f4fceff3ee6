// What the server has written, for the scripts that add to it.

/** said are the words of the page that scripts need, in its language. */
export const said: DOMStringMap = document.querySelector<HTMLElement>('.docs')!.dataset;

/** byId finds what every page of an operation has. */
export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}
