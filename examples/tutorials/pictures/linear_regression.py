# The houses of the test, each at its price and at what the model says.
from wherry_web.playground import plot

prices = np.array([price[0] for _, price in test])
said = model.predict_batch([np.stack([features for features, _ in test])])[0].flatten()
plot(prices, {"model": said, "right": prices}, points=True, x_label="price", y_label="said")
