// The training calls of the worker: steps run in slices of time, so that pause and evaluation get a turn.
const SLICE = 80; // milliseconds

export function training(objects, { plain, post, python, pyodide }) {
  let running = false;
  let turn = 0; // of start: a loop ends when the next has begun

  async function loop(mine) {
    while (running && mine === turn) {
      const slice = plain(objects.trainer.run(SLICE));
      if (slice.done) running = false;
      post({ event: "trained", ...slice });
      await new Promise((resolve) => setTimeout(resolve)); // messages that came in between
    }
  }

  return {
    configure(digits, settings) {
      running = false;
      const options = pyodide().toPy(settings);
      const fresh = python().Trainer(digits, options);
      options.destroy();
      objects.trainer?.destroy();
      objects.trainer = fresh;
      return plain(fresh.evaluate());
    },
    start() {
      if (running) return;
      running = true;
      loop(++turn).catch((error) => {
        running = false;
        post({ event: "failed", text: String(error) });
      });
    },
    pause() {
      running = false;
    },
    evaluate: () => plain(objects.trainer.evaluate()),
    weights: () => plain(objects.trainer.weights()),
    loadWeights(content) {
      objects.trainer.load(content);
      return plain(objects.trainer.evaluate());
    },
  };
}
