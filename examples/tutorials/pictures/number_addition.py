# What it writes for all sums of two numbers up to 99, as the distance from the right one: dark is right.
from wherry_web.playground import show

terms = np.stack(np.mgrid[0:100, 0:100]).reshape(2, -1).T
asked = np.array([[SIGNS.index(sign) for sign in f"{a}+{b}".rjust(ASKED)] for a, b in terms], "int64")
written = network(paddle.to_tensor(asked)).numpy()
answered = [int(text) if (text := "".join(SIGNS[sign] for sign in row).strip()).isdigit() else 0 for row in written]
show(np.abs(np.array(answered) - terms.sum(axis=1)).reshape(100, 100), title="Away from the right sum", low=0, high=40)
