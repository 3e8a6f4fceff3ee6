// What a steward hears and feels without looking: high and short for yes, low and long for no.
let audio: AudioContext | null = null;
let sounding = 0;

export function sound(kind: 'good' | 'bad' | 'ask') {
  navigator.vibrate?.(kind === 'good' ? 80 : [200, 80, 200]);
  try {
    audio ??= new AudioContext();
    const tone = audio.createOscillator(), volume = audio.createGain();
    tone.frequency.value = kind === 'good' ? 880 : kind === 'bad' ? 180 : 440;
    volume.gain.value = 0.15;
    tone.connect(volume).connect(audio.destination);
    sounding++;
    tone.onended = () => {
      // A context that goes on without a sound keeps the device's audio awake, and empties its battery.
      if (--sounding === 0) void audio?.suspend();
    };
    void audio.resume();
    tone.start();
    tone.stop(audio.currentTime + (kind === 'good' ? 0.12 : 0.4));
  } catch { /* a device without sound */ }
}
