"""Two classes that no straight line parts."""
import wherry as paddle
from wherry import nn
from wherry_web.playground import plot, show

paddle.seed(0)
angle = paddle.rand([400]) * 3.14159
upper = paddle.stack([paddle.cos(angle), paddle.sin(angle)], axis=1)
lower = paddle.stack([1 - paddle.cos(angle), 0.5 - paddle.sin(angle)], axis=1)
points = paddle.concat([upper, lower]) + 0.1 * paddle.randn([800, 2])
labels = paddle.concat([paddle.zeros([400], "int64"), paddle.ones([400], "int64")])

for name, cloud in {"upper": points[:400], "lower": points[400:]}.items():
    plot(cloud[:, 0], cloud[:, 1], title=f"The {name} moon", points=True)

net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(300):
    loss = nn.functional.cross_entropy(net(points), labels)
    loss.backward()
    adam.step()
    adam.clear_grad()

# What the network says of each place: black is the upper moon, white the lower one.
y, x = paddle.meshgrid(paddle.linspace(1.5, -1.0, 100), paddle.linspace(-1.5, 2.5, 160))
with paddle.no_grad():
    says = nn.functional.softmax(net(paddle.stack([x.flatten(), y.flatten()], axis=1)))[:, 1]
show(says.reshape([100, 160]), title="The border that it found", low=0, high=1)
right = (paddle.argmax(net(points), axis=1) == labels).astype("float32").mean()
print(f"{float(right):.1%} are on the right side")
