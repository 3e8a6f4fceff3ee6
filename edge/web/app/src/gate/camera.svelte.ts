// The camera of a gate, and the codes that it sees.
import { openReader } from './reader';

const again = 3000; // milliseconds until the same code counts again
const between = 120; // milliseconds between two looks

export class Camera {
  stream = $state.raw<MediaStream | null>(null);
  trouble = $state<'' | 'noCamera' | 'denied' | 'noReader'>('');
  #last = { text: '', at: 0 };

  /** saw is called with each code; blind says whether nothing is to be read for now. */
  constructor(readonly saw: (text: string) => Promise<void>, readonly blind: () => boolean) {}

  async start(video: HTMLVideoElement) {
    this.trouble = navigator.mediaDevices ? '' : 'noCamera';
    if (this.trouble) return;
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
      video.srcObject = this.stream;
      await video.play();
      void this.#watch(video);
    } catch {
      this.trouble = 'denied';
      this.stop();
    }
  }

  stop() {
    this.stream?.getTracks().forEach((t) => t.stop());
    this.stream = null;
  }

  async #watch(video: HTMLVideoElement) {
    const reader = await openReader().catch(() => null);
    if (!reader) {
      this.trouble = 'noReader';
      this.stop();
      return;
    }
    while (this.stream) {
      const found = this.blind() ? '' : await reader.read(video).catch(() => '');
      if (found && !(found === this.#last.text && Date.now() - this.#last.at < again)) {
        this.#last = { text: found, at: Date.now() };
        await this.saw(found);
      }
      await new Promise((done) => setTimeout(done, between));
    }
    reader.close();
  }
}
