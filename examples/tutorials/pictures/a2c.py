# How long the poles stood, one episode after the other.
from wherry_web.playground import plot

plot({"steps": lengths, "mean of the last twenty": [np.mean(lengths[max(0, i - 19) : i + 1]) for i in range(len(lengths))]}, x_label="episode")
