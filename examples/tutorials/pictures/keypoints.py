# Faces of the test with the points that the network found, black, in their places.
from wherry_web.playground import show

faces_found = test.images[:8].copy()
for picture, points in zip(faces_found, model.predict_batch([test.images[:8]])[0].reshape(-1, 3, 2) * SIZE):
    for x, y in points.round().astype(int).clip(1, SIZE - 2):
        picture[0, y - 1 : y + 2, x - 1 : x + 2] = 0
show(faces_found, title="Eyes and mouth", low=0, high=1)
