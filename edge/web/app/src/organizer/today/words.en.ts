const words = {
  title: 'Today', inside: 'inside now', insideOf: (limit: string) => `inside now, of ${limit}`, in: 'in', out: 'out', came: 'came in', remaining: 'not here yet', noName: 'Without a name', nobody: 'No gate has scanned anything yet.',
  hooks: (n: string) => `Webhooks that were switched off since they failed: ${n}`, reviews: (n: string, event: string) => `Reviews without an answer: ${n}, of ${event}`,
};

export default words;
export type Words = typeof words;
