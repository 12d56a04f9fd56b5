# The pendulum with the trained actor: 1 is upright, -1 hangs down.
from wherry_web.playground import plot

world = Pendulum(seed=1, leaning=0.3)
state, heights, torques = world.reset(), [], []
for _ in range(100):
    with paddle.no_grad():
        torque = actor(paddle.to_tensor(state[None])).numpy()
    heights.append(state[0])
    torques.append(torque.item())
    state, _, _, _ = world.step(torque)
plot({"height": heights, "torque": torques}, x_label="step")
