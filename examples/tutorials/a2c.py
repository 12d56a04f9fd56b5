"""The pole once more, with several carts at a time: advantage actor-critic, which learns after every few steps of all of them.

    wherry run examples/tutorials/a2c.py
"""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from environments import CartPole

CARTS, STEPS, GAMMA = 8, 10, 0.99


class ActorCritic(nn.Layer):
    """Logits of the pushes `[n, 2]` and values `[n]`, of one body."""

    def __init__(self, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh())
        self.actor, self.critic = nn.Linear(hidden, 2), nn.Linear(hidden, 1)

    def forward(self, states):
        x = self.body(states)
        return self.actor(x), self.critic(x).squeeze(-1)


def main(updates=120):
    paddle.seed(21)
    worlds = [CartPole(seed=cart) for cart in range(CARTS)]
    network = ActorCritic()
    optimizer = paddle.optimizer.RMSProp(
        learning_rate=0.003, rho=0.99, epsilon=1e-5, parameters=network.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5)
    )
    states = np.stack([world.reset() for world in worlds])
    lengths, running = [], np.zeros(CARTS, int)
    for update in range(updates):
        logs, values, entropies, rewards, masks = [], [], [], [], []
        for _ in range(STEPS):
            logits, value = network(paddle.to_tensor(states))
            chances = F.softmax(logits, axis=-1)
            actions = paddle.multinomial(chances, num_samples=1)
            log_chances = F.log_softmax(logits, axis=-1)
            logs.append(paddle.take_along_axis(log_chances, actions, axis=1).squeeze(1))
            entropies.append(-(chances * log_chances).sum(axis=1).mean())
            values.append(value)
            ended = np.zeros(CARTS, "float32")
            states = states.copy()
            running += 1
            for cart, (world, action) in enumerate(zip(worlds, actions.numpy()[:, 0])):
                states[cart], _, over, _ = world.step(int(action))
                if over or running[cart] == 200:
                    lengths.append(running[cart])
                    states[cart], ended[cart], running[cart] = world.reset(), 1, 0
            rewards.append(paddle.ones([CARTS]))
            masks.append(paddle.to_tensor(1 - ended))
        with paddle.no_grad():
            _, worth = network(paddle.to_tensor(states))
        came = []
        for reward, mask in zip(reversed(rewards), reversed(masks)):
            worth = reward + GAMMA * worth * mask
            came.insert(0, worth)
        advantage = paddle.concat(came).detach() - paddle.concat(values)
        loss = -(paddle.concat(logs) * advantage.detach()).mean() + 0.5 * (advantage**2).mean() - 0.01 * paddle.add_n(entropies) / STEPS
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        if update % 15 == 0 or update == updates - 1:
            print(f"update {update:3d}  loss {loss.item():.6f}")
    print(f"it stood for {np.mean(lengths[:20]):.1f} steps in the first twenty episodes, for {np.mean(lengths[-20:]):.1f} in the last twenty")


if __name__ == "__main__":
    main()
