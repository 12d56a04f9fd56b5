# The machine that fails, and how far each day that begins at an hour is from what the network makes of it.
from wherry_web.playground import plot

plot({"temperature": failing}, title="Temperature", x_label="hour")
plot({"distance": errors[1], "farthest healthy day": np.full(len(errors[1]), limit)}, title="Distance", x_label="hour in which the day begins")
