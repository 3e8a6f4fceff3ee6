// Finds the QR code in a square picture, and answers with its text or nothing. The page
// imports this file to learn where it is, and runs it as a worker. A file that Vite bundles
// for a worker would be missing in the list of licenses.
import jsQR from 'jsqr';

export const here = import.meta.url;

if (typeof document === 'undefined') {
  onmessage = (e: MessageEvent<{ data: Uint8ClampedArray; side: number }>) => {
    const { data, side } = e.data;
    postMessage(jsQR(data, side, side, { inversionAttempts: 'dontInvert' })?.data ?? '');
  };
}
