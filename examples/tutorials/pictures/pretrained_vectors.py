# The vectors that others have learnt, along their two longest axes: praise, blame and everything else.
from tutorial_data import _BLAME, _PRAISE

from wherry_web.playground import plot

names = sorted(known)
table = np.stack([known[word] for word in names])
places = (table - table.mean(axis=0)) @ np.linalg.svd(table - table.mean(axis=0))[2][:2].T
kinds = {"praise": _PRAISE, "blame": _BLAME}
lines = {kind: [y if word in words else float("nan") for word, y in zip(names, places[:, 1])] for kind, words in kinds.items()}
lines["neither"] = [float("nan") if word in _PRAISE + _BLAME else y for word, y in zip(names, places[:, 1])]
plot(places[:, 0], lines, points=True)
