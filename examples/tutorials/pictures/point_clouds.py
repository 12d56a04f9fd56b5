# One cloud of each solid, seen from the front.
from wherry_web.playground import plot

seen = {}
for points, kind in test.samples:
    seen.setdefault(kind, points)
for kind, points in seen.items():
    plot(points[:, 0], points[:, 2], title=["box", "cone", "cylinder", "pyramid"][kind], points=True)
