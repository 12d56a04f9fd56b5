"""Programs with a mistake in each line that says so: checkers must find one there, and nowhere else."""
import wherry as paddle
import wherry.nn.functional as F
from wherry import Tensor, nn
from wherry.nn import Liner  # wrong

x = paddle.to_tensor([1.0])
paddle.matmull(x, x)  # wrong
paddle.nn.Liner(2, 3)  # wrong
nn.Conv2dd(1, 6, 3)  # wrong
F.sofmax(x)  # wrong
x.reshap([1])  # wrong
x.sum(dimm=0)  # wrong
x.grads  # wrong
x.shape.rank  # wrong
paddle.optimizer.Adm()  # wrong
paddle.io.DataLoder()  # wrong
paddle.vision.transforms.ToTensr()  # wrong
paddle.matmul(x)  # wrong
paddle.reshape(x, shape="two")  # wrong
nn.Linear(2)  # wrong
nn.Linear(2, 3)("text")  # wrong


class Net(nn.Layer):
    def forward(self, x: Tensor) -> Tensor:
        return x


Net()(x, x)  # wrong
Net()(x).numpi()  # wrong


@paddle.no_grad()
def predict(x: Tensor) -> Tensor:
    return x


predict(x, 1)  # wrong
predict(x).nmpy()  # wrong
paddle.annotations  # wrong
paddle.TYPE_CHECKING  # wrong
paddle.accumulate  # wrong
paddle.sum(input=x, dimm=1)  # wrong
paddle.add(input=x)  # wrong
x.permute("a", "b")  # wrong
