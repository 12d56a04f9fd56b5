"""Train a LeNet on handwritten digits, and see the loss fall."""
import wherry as paddle
from wherry.nn import functional as F
from wherry_web.playground import digits, plot, show

EPOCHS = 3
TRAINED_ON = 1437

paddle.seed(0)
images, labels = digits()
show(images[:16], title="Some of the digits")

net = paddle.vision.models.LeNet()
adam = paddle.optimizer.Adam(0.002, parameters=net.parameters())
losses = []
for epoch in range(EPOCHS):
    order = paddle.randperm(TRAINED_ON)
    for start in range(0, TRAINED_ON, 32):
        chosen = order[start : start + 32]
        loss = F.cross_entropy(net(paddle.gather(images, chosen)), paddle.gather(labels, chosen))
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(float(loss))
        plot(losses, title="Loss", x_label="step", log=True, name="loss")  # the same plot, drawn again
    with paddle.no_grad():
        answers = paddle.argmax(net(images[TRAINED_ON:]), axis=1)
    right = (answers == labels[TRAINED_ON:]).astype("float32").mean()
    print(f"epoch {epoch + 1}: {float(right):.1%} of 360 unseen digits are right")

wrong = paddle.nonzero(answers != labels[TRAINED_ON:]).flatten()
if wrong.shape[0]:
    show(paddle.gather(images[TRAINED_ON:], wrong), title="Mistakes")
