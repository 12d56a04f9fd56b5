"""A pendulum that a motor shall keep upright: actions that are numbers, a memory, and slow copies of both networks (DDPG).

    wherry run examples/tutorials/ddpg.py
"""
from collections import deque

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from environments import Pendulum
from paddle.distribution import Normal

GAMMA, SLOWLY, BATCH = 0.97, 0.02, 64


class Actor(nn.Layer):
    """The torque in a state, -2 to 2."""

    def __init__(self, is_train=True):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 32), nn.Linear(32, 1)
        self.noise = Normal(0.0, 0.3)
        self.is_train = is_train

    def forward(self, x):
        return paddle.tanh(self.fc2(F.relu(self.fc1(x)))) * 2

    def choose(self, state):
        action = self.forward(state)
        return paddle.clip(action + self.noise.sample([1]) if self.is_train else action, -2, 2)


class Critic(nn.Layer):
    """What a torque in a state is worth."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(3, 32), nn.Linear(32 + 1, 32), nn.Linear(32, 1)

    def forward(self, state, action):
        x = paddle.concat((F.relu(self.fc1(state)), action), axis=1)
        return self.fc3(F.relu(self.fc2(x)))


def follow(copy, network, share):
    """The copy goes a share of the way to the network."""
    for slow, fast in zip(copy.parameters(), network.parameters()):
        slow.set_value(share * fast + (1.0 - share) * slow)


def episode(world, actor, steps=100):
    """The rewards of an episode without noise."""
    state, total = world.reset(), 0.0
    for _ in range(steps):
        with paddle.no_grad():
            state, reward, _, _ = world.step(actor(paddle.to_tensor(state[None])).numpy())
        total += reward
    return total


def main(episodes=14):
    paddle.seed(22)
    draw = np.random.default_rng(22)
    world, memory = Pendulum(seed=22, leaning=0.3), deque(maxlen=2000)
    actor, critic, slow_actor, slow_critic = Actor(), Critic(), Actor(), Critic()
    follow(slow_actor, actor, 1.0)
    follow(slow_critic, critic, 1.0)
    actor_optimizer = paddle.optimizer.Adam(parameters=actor.parameters(), learning_rate=1e-3)
    critic_optimizer = paddle.optimizer.Adam(parameters=critic.parameters(), learning_rate=3e-3)
    before = np.mean([episode(Pendulum(seed, leaning=0.3), actor) for seed in range(5)])
    for number in range(episodes):
        state = world.reset()
        losses = []
        for _ in range(100):
            action = actor.choose(paddle.to_tensor(state[None])).numpy()[0]
            following, reward, _, _ = world.step(action)
            memory.append((state, action, np.array([reward / 4], "float32"), following))
            state = following
            if len(memory) < BATCH:
                continue
            chosen = [memory[place] for place in draw.integers(0, len(memory), BATCH)]
            states, actions, rewards, followings = (paddle.to_tensor(np.stack(part).astype("float32")) for part in zip(*chosen))
            with paddle.no_grad():
                worth = rewards + GAMMA * slow_critic(followings, slow_actor(followings))
            loss = F.mse_loss(critic(states, actions), worth)
            critic_optimizer.clear_grad()
            loss.backward()
            critic_optimizer.step()
            actor_optimizer.clear_grad()
            (-critic(states, actor(states)).mean()).backward()
            actor_optimizer.step()
            follow(slow_actor, actor, SLOWLY)
            follow(slow_critic, critic, SLOWLY)
            losses.append(loss.item())
        if losses and number % 2 == 0:
            print(f"episode {number:2d}  loss {np.mean(losses):.6f}")
    after = np.mean([episode(Pendulum(seed, leaning=0.3), actor) for seed in range(5)])
    print(f"rewards of an episode: {before:.0f} before, {after:.0f} after")


if __name__ == "__main__":
    main()
