# How sure it is of each review of the test: blame is the first half, praise the second.
from wherry_web.playground import plot

sure = paddle.nn.functional.softmax(scores)[:, 1]
order = np.argsort(test.labels.flatten(), kind="stable")
plot(sure.numpy()[order], title="Praise, from 0 to 1", x_label="review")
