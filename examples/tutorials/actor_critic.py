"""A pole that stands on a cart: one network chooses the push and another one says how good a state is.

    wherry run examples/tutorials/actor_critic.py

After each episode the actor makes pushes likelier that went better than the critic had expected.
"""
import numpy as np
import paddle
import paddle.nn as nn
from environments import CartPole
from paddle.distribution import Categorical

GAMMA = 0.99


class Actor(nn.Layer):
    """The distribution of the two pushes in a state."""

    def __init__(self):
        super().__init__()
        self.linear1, self.linear2, self.linear3 = nn.Linear(4, 32), nn.Linear(32, 32), nn.Linear(32, 2)

    def forward(self, state):
        x = nn.functional.relu(self.linear1(state))
        x = nn.functional.relu(self.linear2(x))
        return Categorical(nn.functional.softmax(self.linear3(x), axis=-1))


class Critic(nn.Layer):
    """What a state is worth."""

    def __init__(self):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(4, 32), nn.Linear(32, 1)

    def forward(self, state):
        return self.linear2(nn.functional.relu(self.linear1(state)))


def returns(rewards, masks, value):
    """From the last reward back: what came, and what the rest was worth."""
    found = []
    for reward, mask in zip(reversed(rewards), reversed(masks)):
        value = reward + GAMMA * value * mask
        found.insert(0, value)
    return found


def greedy(actor, world):
    """How long the pole stands when the likelier push is taken each time, 200 steps at most."""
    state, ended, steps = world.reset(), False, 0
    while not ended and steps < 200:
        with paddle.no_grad():
            state, _, ended, _ = world.step(int(actor(paddle.to_tensor(state)).logits.argmax()))
        steps += 1
    return steps


def main(episodes=80):
    paddle.seed(20)
    world = CartPole(seed=20)
    actor, critic = Actor(), Critic()
    actor_optimizer = paddle.optimizer.Adam(parameters=actor.parameters(), learning_rate=0.005)
    critic_optimizer = paddle.optimizer.Adam(parameters=critic.parameters(), learning_rate=0.01)
    before = np.mean([greedy(actor, CartPole(seed)) for seed in range(5)])
    for episode in range(episodes):
        state = world.reset()
        logs, values, rewards, masks = [], [], [], []
        for _ in range(200):
            state = paddle.to_tensor(state, dtype="float32", place=paddle.CPUPlace())
            chances, value = actor(state), critic(state)
            action = chances.sample([1])
            state, reward, ended, _ = world.step(int(action.numpy().squeeze(0)))
            logs.append(chances.log_prob(action))
            values.append(value)
            rewards.append(paddle.to_tensor([reward], dtype="float32"))
            masks.append(paddle.to_tensor(1 - ended, dtype="float32"))
            if ended:
                break
        worth = critic(paddle.to_tensor(state, dtype="float32"))
        came = paddle.concat(returns(rewards, masks, worth)).detach()
        advantage = came - paddle.concat(values)
        actor_loss = -(paddle.concat(logs) * (advantage / advantage.abs().max()).detach()).mean()
        critic_loss = advantage.pow(2).mean()
        actor_optimizer.clear_grad()
        critic_optimizer.clear_grad()
        actor_loss.backward()
        critic_loss.backward()
        actor_optimizer.step()
        critic_optimizer.step()
        if episode % 10 == 0 or episode == episodes - 1:
            print(f"episode {episode:2d}  loss {critic_loss.item():.6f}  steps {len(rewards)}")
    after = np.mean([greedy(actor, CartPole(seed)) for seed in range(5)])
    print(f"the pole stands for {before:.1f} steps before, for {after:.1f} after")


if __name__ == "__main__":
    main()
