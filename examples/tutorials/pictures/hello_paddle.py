# The rides, and the line that was learned from them.
from wherry_web.playground import plot

plot(distance.flatten(), {"fare": fare.flatten(), "learned": linear(distance).flatten()}, x_label="kilometres", y_label="fare")
