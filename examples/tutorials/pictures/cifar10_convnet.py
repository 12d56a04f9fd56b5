# Eight pictures of the test, and what the network takes them for.
from wherry_web.playground import show

pictures, labels = (np.stack(part) for part in zip(*[test[i] for i in range(8)]))
show(pictures, title="Pictures that it never saw")
print("taken for", network(paddle.to_tensor(pictures)).argmax(axis=1).tolist(), "and are", labels.flatten().tolist())
