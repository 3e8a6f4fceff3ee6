// What reads QR codes from a camera: the browser's own reader or, where it has none (Firefox,
// Safari), ours, which works beside the page so that the page stays quick.
type Detector = { detect(v: HTMLVideoElement): Promise<{ rawValue: string }[]> };
type Detectors = { new (o: { formats: string[] }): Detector; getSupportedFormats(): Promise<string[]> };

export interface Reader {
  /** read returns the text of a code that the camera sees, or nothing. */
  read(video: HTMLVideoElement): Promise<string>;
  close(): void;
}

export async function openReader(): Promise<Reader> {
  const Own = (window as { BarcodeDetector?: Detectors }).BarcodeDetector;
  if (!Own || !(await Own.getSupportedFormats()).includes('qr_code')) return openDecoder();
  const detector = new Own({ formats: ['qr_code'] });
  return { read: async (video) => (await detector.detect(video))[0]?.rawValue ?? '', close: () => undefined };
}

const side = 480; // of the picture that is decoded, in pixels

/** openDecoder reads the middle square of the video, which is what the page shows of it. */
async function openDecoder(): Promise<Reader> {
  const { here } = await import('./decode');
  const worker = new Worker(here, { type: 'module' });
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const paper = canvas.getContext('2d', { willReadFrequently: true })!;
  return {
    read(video) {
      const square = Math.min(video.videoWidth, video.videoHeight);
      if (!square) return Promise.resolve(''); // nothing is seen yet
      paper.drawImage(video, (video.videoWidth - square) / 2, (video.videoHeight - square) / 2, square, square, 0, 0, side, side);
      const { data } = paper.getImageData(0, 0, side, side);
      return new Promise((done, fail) => {
        worker.onmessage = (e: MessageEvent<string>) => done(e.data);
        worker.onerror = () => fail(new Error('the decoder did not start'));
        worker.postMessage({ data, side }, [data.buffer]);
      });
    },
    close: () => worker.terminate(),
  };
}
