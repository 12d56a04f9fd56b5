# What the network answers beside what is right. Each answer comes through the middle layer a random number of times.
from wherry_web.playground import plot

plot(y.flatten(), network(x).flatten(), points=True, x_label="right", y_label="answered")
