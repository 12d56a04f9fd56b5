"""Two worlds for reinforcement learning, in NumPy: a pole on a cart, and a pendulum. Both have the methods of OpenAI Gym's."""
from __future__ import annotations

import numpy as np


class CartPole:
    """A pole that stands on a cart, which is pushed to the left (0) or the right (1).

    The state is `[4]`: place and speed of the cart in m and m/s, angle and angular speed of the pole in rad and rad/s. Each step of
    0.02 s gives a reward of 1, and the episode ends when the pole leans by 12 degrees or the cart is 2.4 m away.

    Source:
        Barto, Sutton & Anderson (1983), without friction.
    """

    def __init__(self, seed: int = 0) -> None:
        self.draw = np.random.default_rng(seed)
        self.state = np.zeros(4)

    def reset(self) -> np.ndarray:
        self.state = self.draw.uniform(-0.05, 0.05, 4)
        return self.state.astype("float32")

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict]:
        _, speed, angle, turning = self.state
        sine, cosine = np.sin(angle), np.cos(angle)
        push = ((10.0 if action else -10.0) + 0.05 * turning**2 * sine) / 1.1  # 0.1 kg of pole, of half a metre to its middle; 1 kg of cart
        bending = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        self.state = self.state + 0.02 * np.array([speed, push - 0.05 * bending * cosine / 1.1, turning, bending])
        ended = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * np.pi / 180)
        return self.state.astype("float32"), 1.0, ended, {}


class Pendulum:
    """A pendulum that a motor of -2 to 2 Nm turns and that shall stand upright.

    The state is `[3]`: cosine and sine of the angle, and the angular speed in rad/s. The reward of a step of 0.05 s is minus the squared
    angle, and a little for speed and effort. An episode begins at most `leaning` rad from upright and never ends by itself.
    """

    def __init__(self, seed: int = 0, leaning: float = np.pi) -> None:
        self.draw = np.random.default_rng(seed)
        self.leaning = leaning
        self.angle = self.turning = 0.0

    def reset(self) -> np.ndarray:
        self.angle, self.turning = (float(value) for value in self.draw.uniform(-1, 1, 2) * (self.leaning, min(1.0, self.leaning)))
        return self._state()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, dict]:
        torque = float(np.clip(np.asarray(action).reshape(-1)[0], -2, 2))
        leaning = (self.angle + np.pi) % (2 * np.pi) - np.pi
        reward = -(leaning**2 + 0.1 * self.turning**2 + 0.001 * torque**2)
        self.turning = float(np.clip(self.turning + (15 * np.sin(self.angle) + 3 * torque) * 0.05, -8, 8))
        self.angle += self.turning * 0.05
        return self._state(), reward, False, {}

    def _state(self) -> np.ndarray:
        return np.array([np.cos(self.angle), np.sin(self.angle), self.turning], "float32")
