"""A first program: find out from six rides what a taxi charges.

    wherry run examples/tutorials/hello_paddle.py

The fare is 10 and 2 for each kilometre. A layer of one weight and one bias learns both from distances and fares.
"""
import paddle

paddle.seed(1)
distance = paddle.to_tensor([[1.0], [3.0], [5.0], [9.0], [10.0], [20.0]])
fare = paddle.to_tensor([[12.0], [16.0], [20.0], [28.0], [30.0], [50.0]])

linear = paddle.nn.Linear(in_features=1, out_features=1)
mean_squares = paddle.nn.MSELoss()
sgd = paddle.optimizer.SGD(learning_rate=0.005, parameters=linear.parameters())

for step in range(3001):
    loss = mean_squares(linear(distance), fare)
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    if step % 500 == 0:
        print(f"step {step:4d}  loss {loss.item():.6f}")

print(f"a kilometre costs {linear.weight.item():.2f}, getting in {linear.bias.item():.2f}")
