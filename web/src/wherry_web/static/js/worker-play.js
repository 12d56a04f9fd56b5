// The calls of the worker for the network to play with: the page asks for some steps a frame, so there is nothing to stop.
export function playing({ plain, given, pyodide }) {
  let play;

  return {
    openPlay: (settings) => given(settings, (options) => {
      const fresh = pyodide().pyimport("wherry_web.client.play").Play(options);
      play?.destroy();
      play = fresh;
      return play.start();
    }),
    play: (milliseconds) => plain(play.run(milliseconds)),
  };
}
